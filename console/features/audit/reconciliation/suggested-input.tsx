import { type ComponentProps, useId } from 'react'
import { type LabelledProps, labelledField } from '#console/ui/forms/fields.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'

type Suggestion = string | { readonly value: string; readonly label: string }
type Props = ComponentProps<typeof TextInput> & { suggestions: readonly Suggestion[] }

/** A text field that suggests values and also accepts any other value. */
export function SuggestedInput({ suggestions, ...rest }: Props) {
  const id = useId()
  return (
    <>
      <TextInput autoComplete="off" list={id} {...rest} />
      <datalist id={id}>
        {suggestions.map((suggestion) => {
          const { value, label } =
            typeof suggestion === 'string' ? { value: suggestion, label: '' } : suggestion
          return (
            <option key={value} value={value}>
              {label || value}
            </option>
          )
        })}
      </datalist>
    </>
  )
}

export const SuggestedField = (props: Props & LabelledProps) =>
  labelledField(props, (input) => <SuggestedInput {...input} />)
