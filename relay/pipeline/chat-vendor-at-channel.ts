import {
  type ChatVendor,
  chatVendorOf,
} from '../conversion/openai-chat/chat-extensions-of-provider.ts'
import type { RelayChannel } from '../views/channel-view.ts'

/**
 * Returns the extensions of the chat format that a channel accepts in requests for a model. `model`
 * is the provider's name for the model.
 */
export function chatVendorAt(
  { terms, target }: Pick<RelayChannel, 'terms' | 'target'>,
  model: string,
  isStream: boolean,
): ChatVendor {
  const vendor = chatVendorOf(terms.type)
  const thinkingSwitch = target?.profile?.thinkingSwitch
  if (thinkingSwitch === undefined) return vendor
  if (!thinkingSwitch.models.test(model)) return { ...vendor, thinkingControl: null }
  const isOnlyOff = thinkingSwitch.isForStreams === true && !isStream
  return { ...vendor, thinkingControl: isOnlyOff ? 'enable_thinking: false' : 'enable_thinking' }
}
