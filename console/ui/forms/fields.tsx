import type { ComponentProps, ReactNode } from 'react'
import { type FieldControl, FormField } from './form-field.tsx'
import { PasswordInput, Select, TextArea, TextInput } from './inputs.tsx'

/**
 * The properties that a labelled field uses itself. The field passes all other properties to its
 * input.
 */
export type LabelledProps = {
  label: string
  hint?: ReactNode
  error?: string | undefined
  isRequired?: boolean | undefined
}

export function labelledField<Rest extends LabelledProps>(
  { label, hint, error, isRequired, ...rest }: Rest,
  control: (controlProps: FieldControl & Omit<Rest, keyof LabelledProps>) => ReactNode,
) {
  return (
    <FormField
      label={label}
      error={error}
      isRequired={isRequired === true}
      {...(hint === undefined ? {} : { hint })}
    >
      {(controlProps) => control({ ...rest, ...controlProps })}
    </FormField>
  )
}

type Presets = {
  label: string
  choices: readonly { value: string; text: string }[]
  /** The value whose button is marked as selected. The default is the value of the field. */
  selected?: string | null
  onSelect?: (value: string) => void
}

type TextFieldProps = ComponentProps<typeof TextInput> &
  LabelledProps & {
    presets?: Presets
    trailing?: ReactNode
  }

export function TextField({ presets, trailing, ...props }: TextFieldProps) {
  return labelledField(props, (input) =>
    trailing !== undefined ? (
      <div className="tg-with-button">
        <TextInput {...input} />
        {trailing}
      </div>
    ) : presets === undefined ? (
      <TextInput {...input} />
    ) : (
      <div className="tg-with-presets">
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

/** A field for a date and time in the time zone of the browser. */
export const DateTimeField = (props: ComponentProps<typeof TextField>) => (
  <TextField className="tg-input-date" {...props} type="datetime-local" max="9999-12-31T23:59" />
)

export const PasswordField = (props: ComponentProps<typeof PasswordInput> & LabelledProps) =>
  labelledField(props, (input) => <PasswordInput {...input} />)

export const TextAreaField = (props: ComponentProps<typeof TextArea> & LabelledProps) =>
  labelledField(props, (input) => <TextArea {...input} />)

export const SelectField = <Value extends string>(
  props: ComponentProps<typeof Select<Value>> & LabelledProps,
) => labelledField(props, (input) => <Select {...input} />)

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
