import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

/** The value of a cell. A click filters the list by this value. */
export function FilterValue(props: {
  /** The value as text, for the accessible name. */
  value: string
  onFilter: () => void
  children?: ReactNode
}): ReactElement | null {
  const { t } = useTranslation()
  if (props.value === '') return <span className="tg-muted">–</span>
  return (
    <button
      type="button"
      className="tg-cell-button"
      tabIndex={-1}
      title={t('usageLog.only', { value: props.value })}
      onClick={props.onFilter}
    >
      {props.children || props.value}
    </button>
  )
}
