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

/** Returns a function that translates an act or the type of an event. Others stay as they are. */
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

/** The labels of all acts, and the act that a label, a name or a part of a label means. */
export function useActSearch() {
  const labelOf = useEventLabel()
  return useMemo(() => searchAmong(ACT_NAMES, labelOf), [labelOf])
}

const EVENT_TYPES = [...ACT_NAMES, ...OTHER_EVENT_NAMES].map(eventTypeOf)

/** The labels of the types of all events, and the type that a text means. */
export function useEventTypeSearch() {
  const labelOf = useEventLabel()
  return useMemo(() => searchAmong(EVENT_TYPES, labelOf), [labelOf])
}

function searchAmong(names: readonly string[], labelOf: (name: string) => string) {
  const named = names.map((name) => ({ name, label: labelOf(name) }))
  const labels = named.map(({ label }) => label).sort((one, other) => one.localeCompare(other))
  const nameOf = (text: string): string => {
    const searched = text.trim().toLowerCase()
    const isSame = (one: string) => one.toLowerCase() === searched
    const exact = named.find(({ name, label }) => isSame(label) || isSame(name))
    const matches = named.filter(({ label }) => label.toLowerCase().includes(searched))
    const only = searched !== '' && matches.length === 1 ? matches[0] : undefined
    return (exact ?? only)?.name ?? text.trim()
  }
  return { labels, nameOf }
}
