import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

const DECLARED = /Fact<\s*\|?((?:\s*'[A-Za-z]+'\s*\|?)+)/g
const PLAINLY_DECLARED = /\bFact<\s*\|?((?:\s*'[A-Za-z]+'\s*\|?)+)/g

/** The types of all events in the domain, as their declarations name them. */
export function eventTypes(): readonly string[] {
  const types = new Set<string>()
  for (const path of globSync('domain/**/*.ts', { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    // Only the files of events have types with another name, such as `TokensFact`, for events.
    const declared = path.endsWith('events.ts') ? DECLARED : PLAINLY_DECLARED
    for (const [, names = ''] of text.matchAll(declared)) {
      for (const [, name = ''] of names.matchAll(/'([A-Za-z]+)'/g)) types.add(name)
    }
  }
  return [...types].sort()
}
