import {
  type ChatExtensions,
  chatExtensionsOf,
} from '../conversion/openai-chat/chat-extensions-of-provider.ts'
import type { RelayChannel } from '../views/channel-view.ts'

/**
 * Returns the extensions of the chat format that a channel accepts in requests for a model. `model`
 * is the provider's name for the model.
 */
export function chatExtensionsAt(
  { terms, target }: Pick<RelayChannel, 'terms' | 'target'>,
  model: string,
  isStream: boolean,
): ChatExtensions {
  const extensions = chatExtensionsOf(terms.type)
  const thinkingSwitch = target?.profile?.thinkingSwitch
  if (thinkingSwitch === undefined) return extensions
  if (!thinkingSwitch.models.test(model)) return { ...extensions, thinkingControl: null }
  const isOnlyOff = thinkingSwitch.isForStreams === true && !isStream
  return {
    ...extensions,
    thinkingControl: isOnlyOff ? 'enable_thinking: false' : 'enable_thinking',
  }
}
