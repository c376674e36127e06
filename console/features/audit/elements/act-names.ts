import { useCallback, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { ACT_NAMES, actNameOf, isActName } from '#read-api/contract/act-names.ts'

/** Returns a function that translates an act, or the type of its event. Others stay as they are. */
export function useActLabel(): (act: string) => string {
  const { t } = useTranslation()
  return useCallback(
    (act) => {
      const name = actNameOf(act)
      return isActName(name) ? t(`auditActs.${name}`) : act
    },
    [t],
  )
}

/** The labels of all acts, and the act that a label, a name or a part of a label means. */
export function useActSearch() {
  const { t } = useTranslation()
  return useMemo(() => {
    const acts = ACT_NAMES.map((name) => ({ name, label: t(`auditActs.${name}`) }))
    const labels = acts.map(({ label }) => label).sort((one, other) => one.localeCompare(other))
    const nameOf = (text: string): string => {
      const searched = text.trim().toLowerCase()
      const isSame = (one: string) => one.toLowerCase() === searched
      const exact = acts.find(({ name, label }) => isSame(label) || isSame(name))
      const matches = acts.filter(({ label }) => label.toLowerCase().includes(searched))
      const only = searched !== '' && matches.length === 1 ? matches[0] : undefined
      return (exact ?? only)?.name ?? text.trim()
    }
    return { labels, nameOf }
  }, [t])
}
