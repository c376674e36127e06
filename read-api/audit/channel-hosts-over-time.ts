import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { hostHashOf } from '#infra/vault/host-hash.ts'
import type { HostOfChannel } from '../read-dependencies-and-query-parameters.ts'

const PAGE = 1_000

/**
 * The host to which a channel sends calls after the event at `position`. `host` is empty if the
 * host is unknown.
 */
type HostChange = {
  readonly position: number
  /** The time at which the host changed, in Unix milliseconds. */
  readonly at: number
  readonly host: string
}

type SentAttempt = {
  /**
   * The hash of the host, from the evidence of the attempt. Undefined for attempts that older
   * versions recorded.
   */
  readonly hostHash: string | undefined
  /** The time at which the request was sent to the provider, in Unix milliseconds. */
  readonly sentAt: number | undefined
  /** The positions of the events that began and ended the call of this attempt. */
  readonly from: number
  readonly to: number
}

/**
 * Remembers the hosts of each channel over time. Reads each event of the channels once, and keeps
 * only the changes of hosts.
 */
export class ChannelHosts {
  private readonly store: Core['store']
  private readonly vault: Core['vault']
  private readonly hostOfChannel: HostOfChannel
  private readonly hosts = new Map<number, HostChange[]>()
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
   * Returns the host to which an attempt was sent, or null if the host is unknown. If the evidence
   * has no hash, returns the host that the channel had when the attempt was sent.
   */
  async hostOf(channelId: number, attempt: SentAttempt): Promise<string | null> {
    this.reading ??= this.readNew().finally(() => {
      this.reading = null
    })
    await this.reading
    const { hostHash, sentAt = 0, from, to } = attempt
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

  private add(channelId: number, entry: HostChange): void {
    const entries = this.hosts.get(channelId) ?? []
    if (entries.at(-1)?.host !== entry.host) entries.push(entry)
    this.hosts.set(channelId, entries)
  }
}
