/** A moment as `MicroTime` of the Kubernetes API: `2026-01-01T00:00:00.000000Z`. */
export function toMicroTime(now: number): string {
  return new Date(now).toISOString().replace('Z', '000Z');
}
