/** How long ago, as kubectl writes it: `45s`, `12m`, `3h10m`, `5d`. */
export function age(since: string | undefined, now: Date): string {
  if (since === undefined) return '';
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 10) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
