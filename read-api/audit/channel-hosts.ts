import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import type { HostOfChannel } from '../read-route-helpers.ts'

const PAGE = 1_000

/** The host of a channel from a position on. It is empty if it is not known. */
type Entry = { readonly position: number; readonly host: string }

/**
 * The hosts of all channels over time, from the events of the channels. It keeps only changes of
 * hosts, and reads only the events that are new since the last question.
 */
export class ChannelHosts {
  private readonly store: Pick<EventStore, 'readStream'>
  private readonly hostOfChannel: HostOfChannel
  private readonly hosts = new Map<number, Entry[]>()
  private revision = 0
  private reading: Promise<void> | null = null

  constructor(
    store: Pick<EventStore, 'readStream'>,
    hostOfChannel: HostOfChannel = ({ baseUrl }) => URL.parse(baseUrl)?.host ?? null,
  ) {
    this.store = store
    this.hostOfChannel = hostOfChannel
  }

  /** Returns the host of the channel as of the position, or null if it is not known. */
  async hostAt(channelId: number, position: number): Promise<string | null> {
    this.reading ??= this.readNew().finally(() => {
      this.reading = null
    })
    await this.reading
    const entry = this.hosts.get(channelId)?.findLast((one) => one.position <= position)
    return entry?.host || null
  }

  private async readNew(): Promise<void> {
    for (;;) {
      const events = await this.store.readStream(CHANNELS_STREAM, this.revision, PAGE)
      for (const event of events as Recorded<ChannelEvent>[]) this.note(event)
      this.revision += events.length
      if (events.length < PAGE) return
    }
  }

  private note({ position, ...event }: Recorded<ChannelEvent>): void {
    if (event.type === 'ChannelsCreated') {
      const host = this.hostOfChannel(event.data.terms) ?? ''
      for (const { channelId } of event.data.channels) this.add(channelId, { position, host })
    } else if (event.type === 'ChannelTermsChanged') {
      this.add(event.data.channelId, {
        position,
        host: this.hostOfChannel(event.data.terms) ?? '',
      })
    }
  }

  private add(channelId: number, entry: Entry): void {
    const entries = this.hosts.get(channelId) ?? []
    if (entries.at(-1)?.host !== entry.host) entries.push(entry)
    this.hosts.set(channelId, entries)
  }
}
