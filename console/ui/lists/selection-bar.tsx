import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../elements/button.tsx'
import type { IconName } from '../elements/icons.tsx'
import type { SelectedRows } from './use-selected-rows.ts'

export function SelectionBar(props: {
  selected: Pick<
    SelectedRows<unknown>,
    'selectedRows' | 'selectableCount' | 'selectAll' | 'clearSelection'
  >
  actions: readonly { icon: IconName; text: string; perform: () => void }[]
  /** The dialogs that the actions open. */
  children?: ReactNode
}) {
  const { t } = useTranslation()
  const { selectedRows, selectableCount, selectAll, clearSelection } = props.selected
  if (selectedRows.length === 0) return null
  return (
    <fieldset className="tg-selection tg-bulk" aria-label={t('ui.selectionActions')}>
      <div className="tg-selection-part">
        <span role="status">{t('ui.selectedCount', { count: selectedRows.length })}</span>
        {selectableCount > 0 && (
          <Button tone="quiet" size="small" onClick={() => void selectAll()}>
            {t('ui.selectMatching', { count: selectableCount })}
          </Button>
        )}
        <Button tone="quiet" size="small" onClick={clearSelection}>
          {t('ui.clearSelection')}
        </Button>
      </div>
      <div className="tg-selection-part">
        {props.actions.map(({ icon, text, perform }) => (
          <Button key={icon} size="small" icon={icon} onClick={perform}>
            {text}
          </Button>
        ))}
        {props.children}
      </div>
    </fieldset>
  )
}
