import { parseObject } from '#console/api/parse-json-object.ts'
import { isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import { type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'

const GROUP_KEYS = ['GroupRatio', 'UserUsableGroups', 'GroupGroupRatio', 'GroupColors'] as const
export type GroupKey = (typeof GROUP_KEYS)[number]

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
   * The ratios that replace the ratio of the token's group for users of this group, by the token's
   * group.
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
 * Parses the options that define groups. Returns null if one of them is malformed. The admin must
 * then correct its JSON.
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

/** Writes a group into the group options. Returns the new text of each option that changes. */
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

export const ratioOverridesText = (ratioOverrides: JsonMap): string =>
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
