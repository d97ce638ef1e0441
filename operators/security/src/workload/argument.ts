/** A text as argument or environment of a container, which the kubelet must take as it is: it would put a password in the place of `$(PASSWORD)`. */
export function asArgument(text: string): string {
  // Of every two `$` it makes one, wherever they stand; in a replacement four mean two.
  return text.replaceAll('$', '$$$$');
}
