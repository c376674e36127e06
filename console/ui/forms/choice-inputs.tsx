import type { ReactNode } from 'react'
import { useId } from 'react'

type ToggleProps = {
  label: ReactNode
  hint?: ReactNode
  isOn: boolean
  isDisabled?: boolean
  onChange: (isOn: boolean) => void
}

export function Switch(props: ToggleProps) {
  return <Toggle {...props} role="switch" className="tg-switch" />
}

export const SwitchField = (
  props: Omit<ToggleProps, 'isOn'> & { value: boolean; error: string | undefined },
) => {
  const { value, error: _, ...rest } = props
  return <Switch {...rest} isOn={value} />
}

export function Checkbox(props: ToggleProps) {
  return <Toggle {...props} className="tg-checkbox" />
}

function Toggle(props: ToggleProps & { role?: 'switch'; className: string }) {
  const id = useId()
  return (
    <div className={`tg-toggle ${props.className}`}>
      <input
        id={id}
        type="checkbox"
        role={props.role}
        checked={props.isOn}
        disabled={props.isDisabled === true}
        aria-describedby={props.hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <div>
        <label htmlFor={id}>{props.label}</label>
        {props.hint === undefined ? null : (
          <p id={`${id}-hint`} className="tg-hint">
            {props.hint}
          </p>
        )}
      </div>
    </div>
  )
}

type RadioChoice<Value extends string> = { value: Value; label: ReactNode; hint?: ReactNode }

export function RadioCards<Value extends string>(props: {
  label: string
  value: Value
  choices: readonly RadioChoice<Value>[]
  onChange: (value: Value) => void
}) {
  const name = useId()
  return (
    <fieldset className="tg-radio-cards">
      <legend className="tg-label">{props.label}</legend>
      {props.choices.map((choice) => (
        <label key={choice.value} className="tg-radio-card">
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === props.value}
            onChange={() => props.onChange(choice.value)}
          />
          <span>
            <span className="tg-radio-label">{choice.label}</span>
            {choice.hint === undefined ? null : <span className="tg-hint">{choice.hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** A row of buttons, of which exactly one is selected, for example for time ranges or modes. */
export function Segmented<Value extends string>(props: {
  label: string
  value: Value
  choices: readonly { value: Value; label: ReactNode }[]
  onChange: (value: Value) => void
}) {
  return (
    <fieldset className="tg-segmented" aria-label={props.label}>
      {props.choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === props.value}
          onClick={() => props.onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </fieldset>
  )
}
