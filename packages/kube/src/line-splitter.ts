/**
 * Cuts a byte stream into lines. It works on bytes, so a character that is split between two chunks stays whole; a line of many
 * chunks is joined once, when its end arrives, so a huge event costs no more than its size.
 */
const newline = 0x0a;

export class LineSplitter {
  #parts: Buffer[] = [];
  #length = 0;

  /** Bytes of the unfinished line. */
  get pending(): number {
    return this.#length;
  }

  /** The lines that this chunk completes, without their newline; empty ones are left out. */
  *push(chunk: Buffer): Generator<string, void, void> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = this.#finish(chunk, start, end);
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start < chunk.length) {
      this.#parts.push(start === 0 ? chunk : chunk.subarray(start));
      this.#length += chunk.length - start;
    }
  }

  /** The last line when the stream ends without a newline, or '' . */
  end(): string {
    return this.#finish(Buffer.alloc(0), 0, 0);
  }

  #finish(chunk: Buffer, start: number, end: number): string {
    if (this.#parts.length === 0) return chunk.toString('utf8', start, end);
    this.#parts.push(chunk.subarray(start, end));
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#length = 0;
    return line;
  }
}
