import { setTimeout as delay } from 'node:timers/promises'
import type { ChannelEvent } from '#domain/channel/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core.ts'
import type { ChannelView } from './channel-view.ts'
import type { ViewRows } from './load-views.ts'

export type LoadChannels = () => Promise<ViewRows['channels']>

type Options = {
  readonly log: Core['log']
  readonly view: ChannelView
  /** An empty view, to be filled. */
  readonly emptyView: () => ChannelView
  readonly load: LoadChannels
}

const TRIES_MAX = 100
const AGAIN_MS = 100

/**
 * Follows the channels' events; when an admin has the abilities fixed, the view is made anew from
 * the read model, beside the one in use, which goes on meanwhile and is then given up.
 */
export function createChannelFollower({ log, view, emptyView, load }: Options) {
  /** What came since the reload under way was asked for; null: none is under way. */
  let since: Recorded<ChannelEvent>[] | null = null

  const reload = async (missed: Recorded<ChannelEvent>[], from: number): Promise<void> => {
    const { rows, position } = await loadedUpTo(load, from)
    const fresh = emptyView()
    await fresh.putAll(rows)
    for (let next = 0; next < missed.length; next += 1) {
      const event = missed[next]
      if (event !== undefined && event.position > position) await fresh.apply(event)
    }
    view.adopt(fresh)
  }
  return async (event: Recorded<ChannelEvent>): Promise<void> => {
    if (event.type !== 'ChannelAbilitiesFixed') {
      since?.push(event)
      return view.apply(event)
    }
    if (since !== null) return
    since = []
    reload(since, event.position)
      .catch((err: unknown) => log.warn({ err }, 'relay views: the channels were not reloaded'))
      .finally(() => {
        since = null
      })
  }
}

/** The read model may be a little behind the event that asks for it. */
async function loadedUpTo(load: LoadChannels, position: number): Promise<ViewRows['channels']> {
  for (let tries = 1; ; tries += 1) {
    const loaded = await load()
    if (loaded.position >= position) return loaded
    if (tries === TRIES_MAX) throw new Error(`the read model did not reach ${position}`)
    await delay(AGAIN_MS)
  }
}
