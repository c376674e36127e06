import {
  type ChatExtensions,
  chatExtensionsOf,
} from '../conversion/openai-chat/chat-extensions-of-provider.ts'
import { NAMES_NEWER_MODEL } from '../dialects/openai-chat/upstream-body.ts'
import { AZURE_TYPE, openAiNameOf } from '../providers/profiles/openai-models-with-chat-endpoint.ts'
import type { RelayChannel } from '../views/channel-view.ts'

/**
 * Returns the extensions of the chat format that a channel accepts in requests for a model. `model`
 * is the provider's name for the model.
 */
export function chatExtensionsAt(
  { terms, target, rules }: Pick<RelayChannel, 'terms' | 'target' | 'rules'>,
  model: string,
  isStream: boolean,
): ChatExtensions {
  const extensions = chatExtensionsOf(terms.type)
  if (terms.type === AZURE_TYPE) {
    const openAiModel = openAiNameOf(rules.modelNames, model)
    const isNewer = NAMES_NEWER_MODEL.test(openAiModel)
    const outputLimit = isNewer ? 'max_completion_tokens' : extensions.outputLimit
    return { ...extensions, openAiModel, outputLimit }
  }
  const thinkingSwitch = target?.profile?.thinkingSwitch
  if (thinkingSwitch === undefined) return extensions
  if (!thinkingSwitch.models.test(model)) return { ...extensions, thinkingControl: null }
  const isOnlyOff = thinkingSwitch.isOnlyForStreams === true && !isStream
  return {
    ...extensions,
    thinkingControl: isOnlyOff ? 'enable_thinking: false' : 'enable_thinking',
  }
}
