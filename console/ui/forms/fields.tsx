import type { ComponentProps, ReactNode } from 'react'
import { type FieldControl, FormField } from './form-field.tsx'
import { PasswordInput, Select, TextArea, TextInput } from './inputs.tsx'

/** All other properties of a field are passed to its control. */
export type Labelled = {
  label: string
  hint?: ReactNode
  error?: string | undefined
  isRequired?: boolean | undefined
}

export function labelled<Rest extends Labelled>(
  { label, hint, error, isRequired, ...rest }: Rest,
  control: (given: FieldControl & Omit<Rest, keyof Labelled>) => ReactNode,
) {
  return (
    <FormField
      label={label}
      error={error}
      isRequired={isRequired === true}
      {...(hint === undefined ? {} : { hint })}
    >
      {(given) => control({ ...rest, ...given })}
    </FormField>
  )
}

type Presets = {
  label: string
  choices: readonly { value: string; text: string }[]
  /** The value of the marked button. The default is the field's value. */
  selected?: string | null
  onSelect?: (value: string) => void
}

type TextFieldProps = ComponentProps<typeof TextInput> &
  Labelled & {
    presets?: Presets
    beside?: ReactNode
  }

export function TextField({ presets, beside, ...props }: TextFieldProps) {
  return labelled(props, (input) =>
    beside !== undefined ? (
      <div className="tg-with-button">
        <TextInput {...input} />
        {beside}
      </div>
    ) : presets === undefined ? (
      <TextInput {...input} />
    ) : (
      <div className="tg-picked">
        <TextInput className="tg-input-short" {...input} />
        <PresetButtons
          label={presets.label}
          choices={presets.choices}
          selected={presets.selected === undefined ? props.value : presets.selected}
          onSelect={presets.onSelect ?? props.onChange}
        />
      </div>
    ),
  )
}

/** A field for a date and time, in the browser's time zone. */
export const DateTimeField = (props: ComponentProps<typeof TextField>) => (
  <TextField className="tg-input-date" {...props} type="datetime-local" max="9999-12-31T23:59" />
)

export const PasswordField = (props: ComponentProps<typeof PasswordInput> & Labelled) =>
  labelled(props, (input) => <PasswordInput {...input} />)

export const TextAreaField = (props: ComponentProps<typeof TextArea> & Labelled) =>
  labelled(props, (input) => <TextArea {...input} />)

export const SelectField = <Value extends string>(
  props: ComponentProps<typeof Select<Value>> & Labelled,
) => labelled(props, (input) => <Select {...input} />)

export function PresetButtons(props: Required<Presets>) {
  return (
    <fieldset className="tg-picks" aria-label={props.label}>
      {props.choices.map(({ value, text }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.selected}
          onClick={() => props.onSelect(value)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}
