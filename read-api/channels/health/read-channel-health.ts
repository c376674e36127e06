import type { Core } from '#infra/core-dependencies.ts'
import type { Gauges } from '#infra/telemetry/gauges-of-all-processes.ts'
import { openCircuits } from '#projections/channel-health/query.ts'
import {
  type ChannelFigures,
  type HealthFigures as Figures,
  figuresSince,
  minutesSince,
} from '#projections/channel-stats/query.ts'
import { type ChannelRow, relayChannels } from '#projections/channels/query.ts'
import type { ChannelHealth, CircuitState, HealthFigures } from '../../contract/channel-health.ts'
import { channelResponse } from '../channel-response.ts'

const IN_FLIGHT = 'calls-in-flight'
const DAY_CACHE_MS = 30_000
const LAST_CACHE_MS = 5_000

type Deps = { readonly core: Core; readonly gauges: Pick<Gauges, 'read'> }
type ByChannel<T> = ReadonlyMap<number, T>
type Window = ByChannel<ChannelFigures>

export class HealthReader {
  private readonly deps: Deps
  private last: { readonly at: number; readonly ids: ReadonlySet<number> } | null = null
  private day: { readonly at: number; readonly window: Window } | null = null

  constructor(deps: Deps) {
    this.deps = deps
  }

  async read(): Promise<ChannelHealth[]> {
    const { core, gauges } = this.deps
    const minute = Math.floor(core.now() / 60_000) * 60
    const [channels, circuits, m5, h1, d1, minutes, inFlight] = await Promise.all([
      relayChannels(core.db),
      openCircuits(core.db),
      windowSince(core, minute - 5 * 60),
      windowSince(core, minute - 60 * 60),
      this.lastDay(minute),
      minutesSince(core.db, minute - 60 * 60),
      gauges.read(IN_FLIGHT),
    ])
    const byChannel = {
      circuits: Map.groupBy(circuits, ({ channelId }) => channelId),
      minutes: Map.groupBy(minutes, ({ channelId }) => channelId),
    }
    const last = this.lastChannels(channels.rows)
    return channels.rows.map((row) => ({
      ...channelFields(row, core.now()),
      is_last: last.has(row.id),
      in_flight: inFlightOf(row.id, inFlight),
      circuits: (byChannel.circuits.get(row.id) ?? []).map((one) => circuitResponse(one, row)),
      ...figuresOf(row, { m5, h1, d1 }),
      minutes: (byChannel.minutes.get(row.id) ?? []).map(({ minute, successes, failures }) => [
        minute,
        successes,
        failures,
      ]),
    }))
  }

  /**
   * Returns the ids of the enabled channels that no other channel can replace (see
   * `lastChannelsOf`). The result is cached for 5 s, because the computation visits all models and
   * groups of all channels.
   */
  private lastChannels(rows: readonly ChannelRow[]): ReadonlySet<number> {
    const at = this.deps.core.now()
    if (this.last !== null && at - this.last.at < LAST_CACHE_MS) return this.last.ids
    const ids = lastChannelsOf(rows.filter((row) => channelResponse(row, at).status === 1))
    this.last = { at, ids }
    return ids
  }

  /**
   * Returns the figures of each channel for the last 24 hours, such as success counts and
   * latencies. The figures are cached for 30 s, because the figures of a day are summed from many
   * rows and change slowly.
   */
  private async lastDay(minute: number): Promise<Window> {
    const { core } = this.deps
    const at = core.now()
    if (this.day !== null && at - this.day.at < DAY_CACHE_MS) return this.day.window
    const window = await windowSince(core, minute - 24 * 3_600)
    this.day = { at, window }
    return window
  }
}

async function windowSince({ db }: Core, since: number): Promise<Window> {
  return new Map((await figuresSince(db, since)).map((figures) => [figures.channelId, figures]))
}

type StatusInfo = { readonly status_reason: string; readonly status_time: number }
const NO_REASON: StatusInfo = { status_reason: '', status_time: 0 }

function channelFields(row: ChannelRow, now: number) {
  const channel = channelResponse(row, now)
  const { other_info: infoText } = channel
  const { status_reason, status_time } =
    infoText === '' ? NO_REASON : (JSON.parse(infoText) as StatusInfo)
  return {
    id: channel.id,
    name: channel.name,
    tag: channel.tag,
    status: channel.status,
    status_reason,
    status_time: status_time || row.statusAt,
    max_concurrency: channel.max_concurrency,
    max_rpm: channel.max_rpm,
    balance: channel.balance_updated_time > 0 ? channel.balance : null,
    balance_updated_time: channel.balance_updated_time,
  }
}

function inFlightOf(id: number, reports: readonly Readonly<Record<string, number>>[]) {
  if (reports.length === 0) return null
  return reports.reduce((sum, report) => sum + (report[`${id}`] ?? 0), 0)
}

type Windows = { readonly m5: Window; readonly h1: Window; readonly d1: Window }

function figuresOf(row: ChannelRow, windows: Windows) {
  const [m5, h1, d1] = [windows.m5, windows.h1, windows.d1].map((window) => window.get(row.id))
  const { models: listed, modelPrefix } = row.terms
  const called = (d1?.models ?? []).map(({ model }) => model)
  const names = new Set([...listed.map((model) => modelPrefix + model), ...called])
  const ofModel = (window: ChannelFigures | undefined, name: string): HealthFigures | null =>
    figuresResponse(window?.models.find(({ model }) => model === name))
  return {
    figures: { m5: figuresResponse(m5), h1: figuresResponse(h1), d1: figuresResponse(d1) },
    models: [...names].map((model) => ({
      model,
      figures: { m5: ofModel(m5, model), h1: ofModel(h1, model), d1: ofModel(d1, model) },
    })),
  }
}

const figuresResponse = (figures: Figures | undefined): HealthFigures | null =>
  figures === undefined
    ? null
    : {
        successes: figures.successes,
        failures: figures.failures,
        latency_ms: figures.latencyMs,
        first_token_ms: figures.firstTokenMs,
        tokens_per_second: figures.tokensPerSecond,
        anomalies: figures.anomalies,
      }

type Circuit = Awaited<ReturnType<typeof openCircuits>>[number]

function circuitResponse(circuit: Circuit, row: ChannelRow): CircuitState {
  const { model, keyRef, state, reason, failures, round, until, openedAt } = circuit
  const keyIndex = keyRef === null ? null : row.keyRefs.indexOf(keyRef)
  const key_index = keyIndex === -1 ? null : keyIndex
  return { model, key_index, state, reason, failures, round, until, opened_at: openedAt }
}

type Offering = Pick<ChannelRow, 'id' | 'keyRefs' | 'terms'>

/**
 * Returns the ids of the channels that no other channel in `rows` can replace. Such a channel is
 * the only channel that offers one of its models to one of its groups. Channels without keys do not
 * count.
 */
function lastChannelsOf(rows: readonly Offering[]): ReadonlySet<number> {
  const offers = new Map<string, Map<string, number | null>>()
  for (const { id, keyRefs, terms } of rows) {
    if (keyRefs.length === 0) continue
    for (const group of terms.groups) {
      const models = offers.get(group) ?? new Map<string, number | null>()
      offers.set(group, models)
      for (const name of terms.models) {
        const model = terms.modelPrefix + name
        const other = models.get(model)
        models.set(model, other === undefined || other === id ? id : null)
      }
    }
  }
  const ids = [...offers.values()].flatMap((models) => [...models.values()])
  return new Set(ids.filter((id) => id !== null))
}
