/** Plain data as YAML, for samples in the docs. Every string that YAML could read as something else is quoted. */

/** YAML of a value, in the order of its fields. */
export function toYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : value.map((item) => `${indent}- ${nested(item, `${indent}  `).trimStart()}`).join('\n');
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    if (entries.length === 0) return '{}';
    return entries
      .map(
        ([name, field]) =>
          `${indent}${scalar(name)}:${isBlock(field) ? `\n${toYaml(field, `${indent}  `)}` : ` ${toYaml(field)}`}`,
      )
      .join('\n');
  }
  return scalar(value);
}

function nested(item: unknown, indent: string): string {
  return isBlock(item) ? toYaml(item, indent) : toYaml(item);
}

function isBlock(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function scalar(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  const plain =
    /^[A-Za-z_./][A-Za-z0-9_./@ -]*$/.test(value) &&
    !/^(true|false|yes|no|on|off|null|y|n)$/i.test(value) &&
    !value.endsWith(' ');
  return plain || /^[A-Za-z][\w.+-]*:\/\/[^\s#]+$/.test(value) ? value : JSON.stringify(value);
}
