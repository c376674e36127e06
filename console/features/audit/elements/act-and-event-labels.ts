import { useCallback, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import {
  ACT_NAMES,
  actNameOf,
  eventTypeOf,
  isActName,
  isOtherEventName,
  OTHER_EVENT_NAMES,
} from '#read-api/contract/audit-act-names.ts'

/**
 * Returns a function that translates the name of an act or the type of an event. An act is
 * something that a user or the system did, as listed in the audit log. An unknown name is returned
 * unchanged.
 */
export function useEventLabel(): (actOrType: string) => string {
  const { t } = useTranslation()
  return useCallback(
    (actOrType) => {
      const name = actNameOf(actOrType)
      if (isActName(name)) return t(`auditActs.${name}`)
      return isOtherEventName(name) ? t(`auditEvents.${name}`) : actOrType
    },
    [t],
  )
}

/**
 * Returns the labels of all acts, and a function that finds the name of an act. The function
 * accepts the whole label, the whole name, or a text that only one label contains, in upper or
 * lower case. The function returns any other text trimmed.
 */
export function useActSearch() {
  const labelOf = useEventLabel()
  return useMemo(() => createLabelSearch(ACT_NAMES, labelOf), [labelOf])
}

const EVENT_TYPES = [...ACT_NAMES, ...OTHER_EVENT_NAMES].map(eventTypeOf)

/**
 * Returns the labels of all types of events, and a function that finds a type. The function accepts
 * the whole label, the whole name, or a text that only one label contains, in upper or lower case.
 * The function returns any other text trimmed.
 */
export function useEventTypeSearch() {
  const labelOf = useEventLabel()
  return useMemo(() => createLabelSearch(EVENT_TYPES, labelOf), [labelOf])
}

function createLabelSearch(names: readonly string[], labelOf: (name: string) => string) {
  const named = names.map((name) => ({ name, label: labelOf(name) }))
  const labels = named.map(({ label }) => label).sort((one, other) => one.localeCompare(other))
  const nameOf = (text: string): string => {
    const searched = text.trim().toLowerCase()
    const isSame = (one: string) => one.toLowerCase() === searched
    const exact = named.find(({ name, label }) => isSame(label) || isSame(name))
    const matches = named.filter(({ label }) => label.toLowerCase().includes(searched))
    const onlyMatch = searched !== '' && matches.length === 1 ? matches[0] : undefined
    return (exact ?? onlyMatch)?.name ?? text.trim()
  }
  return { labels, nameOf }
}
