import type { OptionsInForce } from '../options/options-in-force.ts'

export type UsableGroup = { readonly desc: string; readonly ratio: number }

/** The groups a user may choose for a token: those offered to everybody, and the user's own. */
export function usableGroups(options: OptionsInForce, ownGroup: string): Map<string, UsableGroup> {
  const ratios = options.members('GroupRatio')
  const offered = options.members('UserUsableGroups')
  const names = new Set([...offered.keys(), ownGroup])
  const groups = new Map<string, UsableGroup>()
  for (const name of names) {
    const desc = offered.get(name)
    if (!ratios.has(name) && name !== ownGroup) continue
    const ratio = Number(ratios.get(name) ?? 1)
    groups.set(name, { desc: typeof desc === 'string' ? desc : name, ratio })
  }
  return groups
}
