import { Button } from '../elements/button.tsx'
import type { IconName } from '../elements/icons.tsx'

export type RowAction = {
  readonly icon: IconName
  /** The accessible name, which contains the name of the row. */
  readonly label: string
  readonly perform: () => void
  /** True for an action that cards show as a separate button. */
  readonly isOnTable?: boolean
}

export const editAction = (label: string, perform: () => void): RowAction => ({
  icon: 'edit',
  label,
  perform,
  isOnTable: true,
})

export const deleteAction = (label: string, perform: () => void): RowAction => ({
  icon: 'trash',
  label,
  perform,
})

export function RowActions({ actions }: { actions: readonly RowAction[] }) {
  return (
    <span className="tg-row-actions">
      {actions.map(({ icon, label, perform, isOnTable }) => (
        <span key={icon} className={isOnTable === true ? 'tg-on-table' : undefined}>
          <Button tone="quiet" size="small" icon={icon} label={label} onClick={perform} />
        </span>
      ))}
    </span>
  )
}
