import type { HealthPush, HealthSnapshot } from '#read-api/contract/channel-health.ts'

/** The snapshot with what changed since; one that was read later than that knows it already. */
export function withPush(snapshot: HealthSnapshot, push: HealthPush): HealthSnapshot {
  if (push.at < snapshot.at) return snapshot
  const changed = new Map(push.channels.map((channel) => [channel.id, channel]))
  const kept = snapshot.channels
    .filter(({ id }) => !push.removed.includes(id))
    .map((channel) => changed.get(channel.id) ?? channel)
  const known = new Set(kept.map(({ id }) => id))
  const added = push.channels.filter(({ id }) => !known.has(id))
  return { at: push.at, channels: [...kept, ...added].sort((a, b) => a.id - b.id) }
}
