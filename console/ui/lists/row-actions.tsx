import type { Action } from '../actions/action.ts'
import { ActionButton } from '../elements/button.tsx'

/**
 * The buttons of a row. Each title must contain the name of the row, because screen readers read
 * only the title.
 */
export function RowActions({ actions }: { actions: readonly Action[] }) {
  return (
    <span className="tg-row-actions">
      {actions.map((action) => (
        <span key={action.title} className={action.isOnTable === true ? 'tg-on-table' : undefined}>
          <ActionButton tone="quiet" size="small" action={action} />
        </span>
      ))}
    </span>
  )
}
