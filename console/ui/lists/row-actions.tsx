import type { Action } from '../actions/action-registry.ts'
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

/**
 * A switch in a row, which takes effect at once. Its label must contain the name of the row, for
 * screen readers.
 */
export function RowSwitch(props: {
  label: string
  isOn: boolean
  isDisabled?: boolean
  onToggle: () => void
}) {
  return (
    <span className="tg-toggle tg-switch tg-row-switch">
      <input
        type="checkbox"
        role="switch"
        aria-label={props.label}
        aria-checked={props.isOn}
        title={props.label}
        checked={props.isOn}
        disabled={props.isDisabled === true}
        onChange={props.onToggle}
      />
    </span>
  )
}
