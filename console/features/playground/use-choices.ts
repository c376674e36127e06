import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { chatModelsOfGroup, chatModelsQuery } from '#console/api/groups/chat-models.ts'
import { usableGroupsQuery } from '#console/api/groups/usable-groups.ts'
import { DEFAULT_SETTINGS } from './conversation.ts'
import type { Conversations } from './use-conversations.ts'

/**
 * The groups there are and the models that the chosen one reaches; what was chosen and is no more
 * gives way to what is.
 */
export function useChoices({ open, setSettings }: Conversations, ownGroup: string) {
  const groups = useQuery(usableGroupsQuery)
  const models = useQuery(chatModelsQuery)
  const group = groups.data && choiceOf(Object.keys(groups.data), open.settings.group, ownGroup)
  const ofGroup = useQuery(chatModelsOfGroup(group ?? ''))
  const offered = ofGroup.data ?? models.data
  const model = offered && choiceOf(offered, open.settings.model, DEFAULT_SETTINGS.model)
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked of each conversation anew
  useEffect(() => {
    if (group !== undefined && group !== open.settings.group) setSettings({ group })
    if (model && model !== open.settings.model) setSettings({ model })
  }, [open.id, group, model])
  const isChosen = group === open.settings.group && model === open.settings.model
  return {
    groups: groups.data ?? {},
    models: offered ?? [],
    /** What is asked is asked of what there is: of the group’s own models, once they are read. */
    isReady: Boolean(group) && Boolean(model) && isChosen && !ofGroup.isPending,
    hasNone: offered?.length === 0,
    error: groups.error ?? models.error,
    readAgain: () => void Promise.all([groups.refetch(), models.refetch()]),
  }
}

const choiceOf = (choices: readonly string[], ...wanted: readonly string[]): string =>
  wanted.find((one) => choices.includes(one)) ?? choices[0] ?? ''
