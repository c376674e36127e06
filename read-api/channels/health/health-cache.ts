import type { Core } from '#infra/core-dependencies.ts'
import type { Gauges } from '#infra/telemetry/gauges-of-all-processes.ts'
import type { ChannelHealth, HealthPush, HealthSnapshot } from '../../contract/channel-health.ts'
import { HealthReader } from './read-channel-health.ts'

const FRESH_MS = 900

type CachedRow = { readonly text: string; readonly row: ChannelHealth; readonly version: number }

/**
 * Caches the health of all channels in this process. Each read that finds a change increases the
 * version of the cache. For each channel, the cache keeps the version at which the channel last
 * changed. The cache can therefore tell which channels have changed since the version that a client
 * has.
 */
export class HealthCache {
  private readonly rows: HealthReader
  private readonly now: () => number
  private at = 0
  private readonly cached = new Map<number, CachedRow>()
  private readonly removedAt = new Map<number, number>()
  private reading: Promise<void> | null = null
  private readAt = Number.NEGATIVE_INFINITY
  version = 0

  constructor(core: Core, gauges: Pick<Gauges, 'read'>) {
    this.rows = new HealthReader({ core, gauges })
    this.now = core.now
  }

  async snapshot(): Promise<HealthSnapshot> {
    await this.refresh()
    return { at: this.at, channels: [...this.cached.values()].map(({ row }) => row) }
  }

  /**
   * Reads the health of all channels again, unless the last read began less than 0.9 s ago.
   * Concurrent callers share one read.
   */
  refresh(): Promise<void> {
    const isFresh = performance.now() - this.readAt < FRESH_MS
    if (this.reading === null && isFresh) return Promise.resolve()
    this.reading ??= this.read().finally(() => {
      this.reading = null
    })
    return this.reading
  }

  /**
   * Returns the channels that have changed or have been removed after a version of the cache, or
   * null if there are no such channels.
   */
  since(version: number): HealthPush | null {
    if (version >= this.version) return null
    const channels = [...this.cached.values()].filter((cached) => cached.version > version)
    const removed = [...this.removedAt].filter(([, at]) => at > version).map(([id]) => id)
    const { at } = this
    return { kind: 'health', at, channels: channels.map(({ row }) => row), removed }
  }

  private async read(): Promise<void> {
    const startedAt = performance.now()
    this.at = Math.round(this.now())
    const rows = await this.rows.read()
    const next = this.version + 1
    const seen = new Set<number>()
    for (const row of rows) {
      seen.add(row.id)
      const text = JSON.stringify(row)
      if (this.cached.get(row.id)?.text === text) continue
      this.cached.set(row.id, { text, row, version: next })
      this.removedAt.delete(row.id)
      this.version = next
    }
    for (const id of this.cached.keys()) {
      if (seen.has(id)) continue
      this.cached.delete(id)
      this.removedAt.set(id, next)
      this.version = next
    }
    this.readAt = startedAt
  }
}
