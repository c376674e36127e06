import type { ChannelsOfTag } from '#projections/channels/query.ts'
import type { Channel, ChannelEntry, TagGroup } from '../contract/channel.ts'
import { channelAnswer } from './channel-answer.ts'

/** A tag as one line, what its channels have in common or together; without a tag the channel. */
export function tagGroup({ tag, rows }: ChannelsOfTag, now: number): ChannelEntry[] {
  const children = rows.map((row) => channelAnswer(row, now))
  return tag === '' ? children : [aggregate(tag, children)]
}

function aggregate(tag: string, children: Channel[]): TagGroup {
  const tested = children.map(({ response_time }) => response_time).filter((time) => time > 0)
  const groups = children.flatMap(({ group }) => group.split(',')).filter((name) => name !== '')
  return {
    tag,
    group: [...new Set(groups)].join(','),
    used_quota: sumOf(children.map(({ used_quota }) => used_quota)),
    response_time: tested.length === 0 ? 0 : Math.round(sumOf(tested) / tested.length),
    priority: sharedBy(children.map(({ priority }) => priority)),
    weight: sharedBy(children.map(({ weight }) => weight)),
    children,
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

/** null where they differ. */
const sharedBy = (numbers: readonly number[]): number | null =>
  new Set(numbers).size === 1 ? (numbers[0] ?? null) : null
