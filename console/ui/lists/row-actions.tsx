import { Button } from '../elements/button.tsx'
import type { IconName } from '../elements/icons.tsx'

export type RowAction = {
  readonly icon: IconName
  /** The accessible name, which contains the name of the row. */
  readonly label: string
  readonly act: () => void
  /**
   * True for an action that only the table shows. Cards have a separate button for such an action.
   */
  readonly isOnTable?: boolean
}

/** Creates the action that edits a row. On a card, a separate button opens the form. */
export const editAct = (label: string, act: () => void): RowAction => ({
  icon: 'edit',
  label,
  act,
  isOnTable: true,
})

export const deleteAct = (label: string, act: () => void): RowAction => ({
  icon: 'trash',
  label,
  act,
})

export function RowActions({ acts }: { acts: readonly RowAction[] }) {
  return (
    <span className="tg-row-actions">
      {acts.map(({ icon, label, act, isOnTable }) => (
        <span key={icon} className={isOnTable === true ? 'tg-on-table' : undefined}>
          <Button tone="quiet" size="small" icon={icon} label={label} onClick={act} />
        </span>
      ))}
    </span>
  )
}
