import { setTimeout as delay } from 'node:timers/promises'
import type { ChannelEvent } from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { ChannelView } from './channel-view.ts'
import type { ViewRows } from './load-view-rows.ts'

/** Loads the channels from the read model, with the position that the read model has reached. */
export type LoadChannels = () => Promise<ViewRows['channels']>

type Options = {
  readonly log: Core['log']
  readonly view: ChannelView
  readonly emptyView: () => ChannelView
  readonly load: LoadChannels
}

const ATTEMPTS_MAX = 100
const RETRY_MS = 100

/**
 * Returns a function that applies channel events to the view. The event `ChannelAbilitiesFixed`
 * means that an admin has repaired the table of the channels' models and groups. After this event,
 * a new view is loaded from the read model. The current view stays in use until the new view is
 * complete.
 */
export function createChannelFollower({ log, view, emptyView, load }: Options) {
  /** The events since the start of the current reload, or null if no reload is running. */
  let missedEvents: Recorded<ChannelEvent>[] | null = null
  /** The position of the last `ChannelAbilitiesFixed`. */
  let repairedAt = 0

  /**
   * Loads the channels into a new view, applies the `missed` events to it and replaces the current
   * view by it. Returns the position that the read model had reached.
   */
  const reload = async (missed: Recorded<ChannelEvent>[]): Promise<number> => {
    const { rows, position } = await loadedUpTo(load, repairedAt)
    const fresh = emptyView()
    await fresh.putAll(rows)
    for (let next = 0; next < missed.length; next += 1) {
      const event = missed[next]
      if (event !== undefined && event.position > position) await fresh.apply(event)
    }
    view.adopt(fresh)
    return position
  }
  const reloadAfterRepairs = async (): Promise<void> => {
    let reached = 0
    const missed: Recorded<ChannelEvent>[] = []
    missedEvents = missed
    try {
      // Another repair may follow while the channels are loaded.
      while (reached < repairedAt) {
        reached = await reload(missed)
      }
    } catch (err) {
      log.warn({ err }, 'relay views: the channels could not be reloaded')
    } finally {
      missedEvents = null
    }
  }
  return async (event: Recorded<ChannelEvent>): Promise<void> => {
    if (event.type !== 'ChannelAbilitiesFixed') {
      missedEvents?.push(event)
      return view.apply(event)
    }
    repairedAt = event.position
    if (missedEvents === null) void reloadAfterRepairs()
  }
}

/**
 * Loads the channels repeatedly until the read model includes the event at `position`, because the
 * read model may lag behind the events. Throws after `ATTEMPTS_MAX` attempts.
 */
async function loadedUpTo(load: LoadChannels, position: number): Promise<ViewRows['channels']> {
  for (let tries = 1; ; tries += 1) {
    const loaded = await load()
    if (loaded.position >= position) return loaded
    if (tries === ATTEMPTS_MAX) throw new Error(`the read model did not reach ${position}`)
    await delay(RETRY_MS)
  }
}
