import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { hostHashOf } from '#infra/vault/host-hash.ts'
import type { HostOfChannel } from '../read-route-helpers.ts'

const PAGE = 1_000

/** The host of a channel from a position on. It is empty if the host is unknown. */
type Entry = {
  readonly position: number
  /** The time of the change in unix milliseconds. */
  readonly at: number
  readonly host: string
}

type Attempted = {
  /** The hash in the evidence. Attempts of earlier versions have none. */
  readonly hostHash: string | undefined
  /** When the request was sent, in unix milliseconds. */
  readonly sentAt: number | undefined
  /** The positions of the events that began and ended the call. */
  readonly from: number
  readonly to: number
}

/**
 * Keeps the hosts of all channels over time. It reads the events of the channels, each event only
 * once, and stores only changes of hosts.
 */
export class ChannelHosts {
  private readonly store: Core['store']
  private readonly vault: Core['vault']
  private readonly hostOfChannel: HostOfChannel
  private readonly hosts = new Map<number, Entry[]>()
  private revision = 0
  private reading: Promise<void> | null = null

  constructor(
    { store, vault }: Pick<Core, 'store' | 'vault'>,
    hostOfChannel: HostOfChannel = ({ baseUrl }) => URL.parse(baseUrl)?.host ?? null,
  ) {
    this.store = store
    this.vault = vault
    this.hostOfChannel = hostOfChannel
  }

  /**
   * Returns the host to which an attempt was sent, or null if it is not known. Without a hash in
   * the evidence, the host is the one that the channel had when the attempt started.
   */
  async hostOf(channelId: number, attempted: Attempted): Promise<string | null> {
    this.reading ??= this.readNew().finally(() => {
      this.reading = null
    })
    await this.reading
    const { hostHash, sentAt = 0, from, to } = attempted
    const entries = this.hosts.get(channelId) ?? []
    const entry =
      hostHash === undefined
        ? entries.findLast(({ position, at }) => position <= (at <= sentAt ? to : from))
        : entries.find(({ host }) => host !== '' && hostHashOf(this.vault, host) === hostHash)
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

  private note({ position, meta: { at }, ...event }: Recorded<ChannelEvent>): void {
    if (event.type === 'ChannelsCreated') {
      const host = this.hostOfChannel(event.data.terms) ?? ''
      for (const { channelId } of event.data.channels) this.add(channelId, { position, at, host })
    } else if (event.type === 'ChannelTermsChanged') {
      this.add(event.data.channelId, {
        ...{ position, at },
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
