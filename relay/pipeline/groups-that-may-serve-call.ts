import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Views } from '../views/start-views.ts'
import type { Caller } from './authenticate.ts'

/**
 * The name of a group that represents several other groups. A call in the group `auto` is served by
 * the first of these groups that can serve the call.
 */
const AUTO = 'auto'

/**
 * Reports whether the user may use the group. A user's own group is always usable. Any other group
 * must be open to users.
 */
export const isGroupUsable = (
  { group, user }: Pick<Caller, 'group' | 'user'>,
  { usableGroups }: Pick<RelayOptions, 'usableGroups'>,
): boolean => group === user.group || usableGroups.has(group)

/**
 * Lists the groups that may serve the caller. For the group `auto`, these are the groups of the
 * option `AutoGroups` that the user may use. For any other group, and if the option is empty, the
 * list contains only the caller's group.
 */
export function groupsOf(
  { group, user }: Pick<Caller, 'group' | 'user'>,
  options: Pick<RelayOptions, 'autoGroups' | 'usableGroups'>,
): readonly string[] {
  const { autoGroups } = options
  if (group !== AUTO || autoGroups.length === 0) return [group]
  return autoGroups.filter((name) => isGroupUsable({ group: name, user }, options))
}

/**
 * Lists the groups that may serve the caller's request. There are none if the user may not use the
 * caller's group, even if this is the group `auto` and the user may use the groups for which it
 * stands. If the caller names a channel, only the groups of this channel are listed, unless the
 * caller may use none of them.
 */
export function servingGroupsOf(caller: Caller, { channels, options }: Views): readonly string[] {
  if (!isGroupUsable(caller, options.options)) return NO_GROUPS
  const groups = groupsOf(caller, options.options)
  if (caller.pinnedChannelId === null || groups.length < 2) return groups
  const ofChannel = channels.find(caller.pinnedChannelId)?.terms.groups ?? []
  const shared = groups.filter((group) => ofChannel.includes(group))
  return shared.length === 0 ? groups : shared
}

const NO_GROUPS: readonly string[] = []
