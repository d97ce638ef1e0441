/** What somebody probably meant: the name that is nearest to a mistyped one. */

/** The nearest of the names, if it is near: a letter or two apart, or the same but for case and `-` or `_`. */
export function closest(name: string, names: Iterable<string>): string | undefined {
  // Names of pods and fields are short; nobody mistypes a long text into one of them.
  if (name.length > 80) return undefined;
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_.]/g, '');
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of names) {
    const distance = plain(candidate) === plain(name) ? 0 : editDistance(name, candidate);
    if (distance <= Math.min(2, Math.floor(candidate.length / 3)) && (best === undefined || distance < best.distance))
      best = { name: candidate, distance };
  }
  return best?.name;
}

/** `; did you mean 'falco'?`, or nothing. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const meant = closest(name, names);
  return meant === undefined ? '' : `; did you mean '${meant}'?`;
}

/** How many letters must be added, taken away, replaced or swapped with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(change, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (older[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    older = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
