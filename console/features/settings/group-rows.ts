import { parseObject } from '#console/api/parse-json-object.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { formatDecimal, isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import { type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'

const GROUP_KEYS = ['GroupRatio', 'UserUsableGroups', 'GroupGroupRatio', 'GroupColors'] as const
type GroupKey = (typeof GROUP_KEYS)[number]

export const GROUP_COLORS = [
  'grey',
  'blue',
  'cyan',
  'green',
  'yellow',
  'orange',
  'red',
  'pink',
  'purple',
] as const

/** The group that every new user has. */
export const FIRST_GROUP = 'default'

export type GroupRow = {
  name: string
  ratio: string
  description: string
  isUsable: boolean
  /** The color of the group's badge. An empty text selects the default color. */
  color: string
  /**
   * Maps groups of tokens to ratios. For users of this group, these ratios replace the usual ratios
   * of the tokens' groups.
   */
  ratioOverrides: JsonMap
}

export type GroupMaps = {
  readonly GroupRatio: JsonMap
  readonly UserUsableGroups: JsonMap
  readonly GroupColors: JsonMap
  readonly GroupGroupRatio: ReadonlyMap<string, JsonMap>
}

/**
 * Parses the options that define groups. Returns null if one of these options is malformed. The
 * admin must then correct the JSON of this option.
 */
export function readGroupMaps(value: (key: GroupKey) => string): GroupMaps | null {
  const GroupRatio = readJsonMap(value('GroupRatio'))
  const UserUsableGroups = readJsonMap(value('UserUsableGroups'), 'text')
  const GroupColors = readJsonMap(value('GroupColors'), 'text')
  const GroupGroupRatio = readNested(value('GroupGroupRatio'))
  if (!GroupRatio || !UserUsableGroups || !GroupColors || !GroupGroupRatio) return null
  return { GroupRatio, UserUsableGroups, GroupColors, GroupGroupRatio }
}

/** Returns one row for each group. Every name that has a group ratio is a group. */
export const groupRows = (maps: GroupMaps): GroupRow[] =>
  [...maps.GroupRatio].map(([name, ratio]) => ({
    name,
    ratio,
    description: textIn(maps.UserUsableGroups.get(name)),
    isUsable: maps.UserUsableGroups.has(name),
    color: textIn(maps.GroupColors.get(name)),
    ratioOverrides: maps.GroupGroupRatio.get(name) ?? new Map(),
  }))

/**
 * Returns the new text of each group option that changes when `row` is written into the options.
 */
export function withGroup(maps: GroupMaps, row: GroupRow): Map<GroupKey, string> {
  const { name, description, color, ratioOverrides } = row
  const offered = JSON.stringify(description.trim() === '' ? name : description.trim())
  return textsOf(maps, {
    GroupRatio: withEntry(maps.GroupRatio, name, row.ratio),
    UserUsableGroups: withEntry(maps.UserUsableGroups, name, row.isUsable ? offered : null),
    GroupColors: withEntry(maps.GroupColors, name, color === '' ? null : JSON.stringify(color)),
    GroupGroupRatio: withRatioOverrides(maps.GroupGroupRatio, name, ratioOverrides),
  })
}

export function withoutGroup(maps: GroupMaps, name: string): Map<GroupKey, string> {
  const others = new Map(
    [...withRatioOverrides(maps.GroupGroupRatio, name, new Map())]
      .map(([user, ratios]) => [user, withEntry(ratios, name, null)] as const)
      .filter(([, ratios]) => ratios.size > 0),
  )
  return textsOf(maps, {
    GroupRatio: withEntry(maps.GroupRatio, name, null),
    UserUsableGroups: withEntry(maps.UserUsableGroups, name, null),
    GroupColors: withEntry(maps.GroupColors, name, null),
    GroupGroupRatio: others,
  })
}

function withRatioOverrides(
  all: ReadonlyMap<string, JsonMap>,
  name: string,
  ratioOverrides: JsonMap,
): ReadonlyMap<string, JsonMap> {
  const changed = new Map(all)
  if (ratioOverrides.size === 0) changed.delete(name)
  else changed.set(name, ratioOverrides)
  return changed
}

function textsOf(before: GroupMaps, after: GroupMaps): Map<GroupKey, string> {
  const texts = GROUP_KEYS.map((key) => [key, textOf(before, key), textOf(after, key)] as const)
  return new Map(
    texts.filter(([, old, fresh]) => old !== fresh).map(([key, , text]) => [key, text]),
  )
}

const textOf = (maps: GroupMaps, key: GroupKey): string =>
  key === 'GroupGroupRatio' ? writeNested(maps[key]) : writeJsonMap(maps[key])

/**
 * Parses ratio overrides, one `group=ratio` per line. Returns null if a line is malformed, or if a
 * group is repeated or unknown.
 */
export function readRatioOverrides(text: string, groups: ReadonlySet<string>): JsonMap | null {
  const ratioOverrides = new Map<string, string>()
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue
    const at = line.lastIndexOf('=')
    const [name, ratio] = [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    const value = parseDecimal(ratio)
    if (at < 1 || value === null || isNegative(value)) return null
    if (!groups.has(name) || ratioOverrides.has(name)) return null
    ratioOverrides.set(name, ratio)
  }
  return ratioOverrides
}

const ratioOverridesText = (ratioOverrides: JsonMap): string =>
  [...ratioOverrides].map(([name, ratio]) => `${name}=${ratio}`).join('\n')

const textIn = (json: string | undefined): string =>
  json === undefined ? '' : (JSON.parse(json) as string)

const INNER = /("(?:[^"\\]|\\.)*")\s*:\s*(\{[^{}]*\})/g

export function readNested(text: string): ReadonlyMap<string, JsonMap> | null {
  const nested = new Map<string, JsonMap>()
  const parsed = parseObject(text.trim() === '' ? '{}' : text)
  if (parsed === null) return null
  for (const [, key = '""', inner = ''] of text.matchAll(INNER)) {
    const ratios = readJsonMap(inner)
    if (ratios === null) return null
    nested.set(JSON.parse(key) as string, ratios)
  }
  return nested.size === Object.keys(parsed).length ? nested : null
}

function writeNested(nested: ReadonlyMap<string, JsonMap>): string {
  if (nested.size === 0) return '{}'
  const lines = [...nested].map(
    ([name, ratios]) =>
      `  ${JSON.stringify(name)}: ${writeJsonMap(ratios).replaceAll('\n', '\n  ')}`,
  )
  return `{\n${lines.join(',\n')}\n}`
}

/** The text between the user's group and the token's group in the name of a pair. */
const SEPARATOR = ' > '

/**
 * Returns the name of a pair of a user's group and a token's group, such as `vip > default`. If
 * this text would be ambiguous, the name is the pair as JSON.
 */
export const groupPairName = (user: string, token: string): string =>
  `${user}${token}`.includes('>') || user.startsWith('[')
    ? JSON.stringify([user, token])
    : `${user}${SEPARATOR}${token}`

export function groupPairOf(name: string): readonly [user: string, token: string] | null {
  const [user, token] = jsonPair(name) ?? name.split(SEPARATOR)
  return user === undefined || token === undefined ? null : [user, token]
}

function jsonPair(name: string): readonly string[] | null {
  if (!name.startsWith('["')) return null
  try {
    const pair: unknown = JSON.parse(name)
    return Array.isArray(pair) ? pair.map(String) : null
  } catch {
    return null
  }
}

export type GroupDraft = Omit<GroupRow, 'ratioOverrides'> & { ratioOverrides: string }
export type GroupErrorKey =
  | 'nameMissing'
  | 'nameTaken'
  | 'notNumber'
  | 'negative'
  | 'ratioOverrides'

export const emptyGroup: GroupDraft = {
  name: '',
  ratio: '1',
  description: '',
  isUsable: true,
  color: '',
  ratioOverrides: '',
}

export const draftOfGroup = (row: GroupRow): GroupDraft => ({
  ...row,
  ratioOverrides: ratioOverridesText(row.ratioOverrides),
})

export function validateGroup(
  draft: GroupDraft,
  groups: readonly string[],
  isNew: boolean,
): FieldErrors<GroupDraft, GroupErrorKey> {
  const errorKeys: FieldErrors<GroupDraft, GroupErrorKey> = {}
  const name = draft.name.trim()
  if (name === '') errorKeys.name = 'nameMissing'
  else if (isNew && groups.includes(name)) errorKeys.name = 'nameTaken'
  const ratio = parseDecimal(draft.ratio)
  if (ratio === null) errorKeys.ratio = 'notNumber'
  else if (isNegative(ratio)) errorKeys.ratio = 'negative'
  if (readRatioOverrides(draft.ratioOverrides, new Set([...groups, name])) === null) {
    errorKeys.ratioOverrides = 'ratioOverrides'
  }
  return errorKeys
}

/** Converts a draft to a row. The draft must be valid according to `validateGroup`. */
export function groupOfDraft(draft: GroupDraft, groups: readonly string[]): GroupRow {
  const name = draft.name.trim()
  const ratio = parseDecimal(draft.ratio)
  return {
    ...draft,
    name,
    ratio: ratio === null ? '1' : formatDecimal(ratio),
    ratioOverrides:
      readRatioOverrides(draft.ratioOverrides, new Set([...groups, name])) ?? new Map(),
  }
}
