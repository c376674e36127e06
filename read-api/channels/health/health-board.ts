import type { Core } from '#infra/core.ts'
import type { Gauges } from '#infra/gauges/gauges.ts'
import type { ChannelHealth, HealthPush, HealthSnapshot } from '../../contract/channel-health.ts'
import { HealthRows } from './health-rows.ts'

const FRESH_MS = 900

type Kept = { readonly text: string; readonly row: ChannelHealth; readonly version: number }

/** The health of all channels, and what of it changed since when: one for a whole process. */
export class HealthBoard {
  private readonly rows: HealthRows
  private readonly now: () => number
  private at = 0
  private readonly kept = new Map<number, Kept>()
  private readonly gone = new Map<number, number>()
  private reading: Promise<void> | null = null
  private readAt = Number.NEGATIVE_INFINITY
  version = 0

  constructor(core: Core, gauges: Gauges) {
    this.rows = new HealthRows({ core, gauges })
    this.now = core.now
  }

  async snapshot(): Promise<HealthSnapshot> {
    await this.refresh()
    return { at: this.at, channels: [...this.kept.values()].map(({ row }) => row) }
  }

  /** Reads anew, unless that was just done; whoever asks meanwhile waits for the same. */
  refresh(): Promise<void> {
    const isFresh = performance.now() - this.readAt < FRESH_MS
    if (this.reading === null && isFresh) return Promise.resolve()
    this.reading ??= this.read().finally(() => {
      this.reading = null
    })
    return this.reading
  }

  /** null when nothing changed. */
  since(version: number): HealthPush | null {
    if (version >= this.version) return null
    const channels = [...this.kept.values()].filter((kept) => kept.version > version)
    const removed = [...this.gone].filter(([, at]) => at > version).map(([id]) => id)
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
      if (this.kept.get(row.id)?.text === text) continue
      this.kept.set(row.id, { text, row, version: next })
      this.gone.delete(row.id)
      this.version = next
    }
    for (const id of this.kept.keys()) {
      if (seen.has(id)) continue
      this.kept.delete(id)
      this.gone.set(id, next)
      this.version = next
    }
    this.readAt = startedAt
  }
}
