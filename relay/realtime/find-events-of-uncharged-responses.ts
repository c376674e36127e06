import { isObject } from '#relay/canonical/json-values.ts'
import { LatestIds } from './latest-ids.ts'
import { idOf, type ServerEvent } from './read-and-redact-provider-event.ts'

/**
 * Finds the events of uncharged responses. A response is not charged if the caller did not request
 * it and no speech in the caller's audio began it. The caller must not receive these events,
 * because the responses would then be free.
 */
export class UnchargedResponses {
  /** The ids of the latest items of the conversation that uncharged responses have created. */
  private readonly items = new LatestIds()
  private readonly isCharged: (responseId: string) => boolean

  constructor(isCharged: (responseId: string) => boolean) {
    this.isCharged = isCharged
  }

  /** Reports whether an event belongs to a response that is not charged. */
  hasEvent({ type, response_id, response, item_id, item }: ServerEvent): boolean {
    const itemId = typeof item_id === 'string' ? item_id : idOf(item)
    const id = typeof response_id === 'string' ? response_id : idOf(response)
    const isOfResponse = typeof response_id === 'string' || isObject(response)
    if (!type.startsWith('response.') || !isOfResponse) return this.items.has(itemId)
    // A charged response without an id can't be remembered, so a `response.done` without an id is
    // not treated as uncharged.
    if (this.isCharged(id) || (type === 'response.done' && id === '')) return false
    this.items.add(itemId)
    return true
  }
}
