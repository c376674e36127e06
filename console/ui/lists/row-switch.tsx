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
