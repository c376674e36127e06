import { toWire } from '#domain/shared/quota.ts'
import type { ChannelsOfTag, MemberRow } from '#projections/channels/query.ts'
import type { ChannelEntry } from '../contract/channel.ts'
import { channelAnswer } from './channel-answer.ts'

/** A tag as one line, what its channels have in common or together; without a tag the channel. */
export function tagGroup({ tag, members, rows }: ChannelsOfTag, now: number): ChannelEntry[] {
  const children = rows.map((row) => channelAnswer(row, now))
  return tag === '' ? children : [{ tag, ...together(members), children }]
}

function together(members: readonly MemberRow[]) {
  const tested = members.map(({ responseTime }) => responseTime).filter((time) => time > 0)
  return {
    group: [...new Set(members.flatMap(({ groups }) => groups))].join(','),
    used_quota: sumOf(members.map(({ usedQuota }) => toWire(usedQuota))),
    response_time: tested.length === 0 ? 0 : Math.round(sumOf(tested) / tested.length),
    priority: sharedBy(members.map(({ priority }) => priority)),
    weight: sharedBy(members.map(({ weight }) => weight)),
    members: members.map(({ id, name, status }) => ({ id, name, status })),
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

/** null where they differ. */
const sharedBy = (numbers: readonly number[]): number | null =>
  new Set(numbers).size === 1 ? (numbers[0] ?? null) : null
