import { expect, test } from 'vitest';
import { techniqueRules } from './technique-rules.ts';

const entries = techniqueRules(['kube-system', 'storage']);
const rules = entries.filter((entry) => 'rule' in entry);

test('every technique of the scenario table has a rule that is tagged with it', () => {
  for (const technique of ['T1059.004', 'T1552.001', 'T1611', 'T1053.003'])
    expect(rules.filter(({ tags }) => tags.includes(technique)).length, technique).toBeGreaterThan(0);
});

test('they stand alone: what they use is defined before, in this file, under names that no other file has', () => {
  const known = new Set<string>();
  for (const entry of entries) {
    const text = 'condition' in entry ? entry.condition : '';
    // All that is left of a condition without its fields and texts are operators, values, and names of macros and lists.
    for (const [name] of text.replaceAll(/"[^"]*"/g, '').matchAll(/\b[a-z]+_[a-z_]+\b(?![.=])/g)) {
      if (/^(pivot_root|is_open_(read|write))$/.test(name)) continue;
      expect(known, `${name} in ${text}`).toContain(name);
    }
    const name = 'list' in entry ? entry.list : 'macro' in entry ? entry.macro : undefined;
    if (name === undefined) continue;
    expect(name).toMatch(/^technique_/);
    expect(known).not.toContain(name);
    known.add(name);
  }
});

test('nothing is defined that nothing uses', () => {
  const text = entries.map((entry) => ('condition' in entry ? entry.condition : '')).join(' ');
  for (const entry of entries) {
    const name = 'list' in entry ? entry.list : 'macro' in entry ? entry.macro : undefined;
    if (name !== undefined) expect(text).toContain(name);
  }
});

test('process names are what the kernel keeps of them: fifteen characters', () => {
  const processes = entries.filter((entry) => 'list' in entry && !/namespaces|files$/.test(entry.list));

  for (const entry of processes)
    if ('list' in entry) expect(entry.items.filter((item) => item.length > 15)).toEqual([]);
});

test('the namespaces of the user are left out, each as one word', () => {
  expect(entries[0]).toEqual({ list: 'technique_ignored_namespaces', items: ['"kube-system"', '"storage"'] });
  expect(techniqueRules([])[0]).toEqual({ list: 'technique_ignored_namespaces', items: [] });
});

test('parentheses and quotes are closed', () => {
  for (const entry of entries) {
    if (!('condition' in entry)) continue;
    const bare = entry.condition.replaceAll(/"[^"]*"/g, '');
    expect(bare.split('(').length, entry.condition).toBe(bare.split(')').length);
    expect(bare).not.toContain('"');
  }
});
