/** A switch in a row. It takes effect immediately and is named after its row. */
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
