import type { ReactElement } from 'react'
import { FormField } from './form-field.tsx'
import { TextInput } from './inputs.tsx'

/** A number field whose value is the typed text. */
export function NumberField(props: {
  label: string
  hint?: string | undefined
  error?: string | undefined
  isDecimal?: boolean
  value: string
  onChange: (value: string) => void
}): ReactElement {
  const { label, hint, error, value, onChange } = props
  return (
    <FormField label={label} hint={hint} error={error}>
      {(control) => (
        <TextInput
          {...control}
          inputMode={props.isDecimal === true ? 'decimal' : 'numeric'}
          value={value}
          onChange={onChange}
        />
      )}
    </FormField>
  )
}
