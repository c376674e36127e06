import type { OptionsInForce } from '../options/options-in-force.ts'

export type UsableGroup = {
  readonly desc: string
  readonly ratio: number
  /** Of its badge; empty for the plain one. */
  readonly color: string
}

/**
 * The groups a user may choose for a token: those offered to everybody, and the user's own; with
 * the ratio that this user's group pays in each.
 */
export function usableGroups(options: OptionsInForce, ownGroup: string): Map<string, UsableGroup> {
  const ratios = options.members('GroupRatio')
  const offered = options.members('UserUsableGroups')
  const colors = options.members('GroupColors')
  const specials = membersOf(options.members('GroupGroupRatio').get(ownGroup))
  const names = new Set([...offered.keys(), ownGroup])
  const groups = new Map<string, UsableGroup>()
  for (const name of names) {
    const desc = offered.get(name)
    if (!ratios.has(name) && name !== ownGroup) continue
    const ratio = Number(specials.get(name) ?? ratios.get(name) ?? 1)
    const color = String(colors.get(name) ?? '')
    groups.set(name, { desc: typeof desc === 'string' ? desc : name, ratio, color })
  }
  return groups
}

const membersOf = (value: unknown): Map<string, unknown> =>
  new Map(typeof value === 'object' && value !== null ? Object.entries(value) : [])
