import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextArea } from '#console/ui/inputs.tsx'
import { type ChannelFault, objectFault } from './channel-faults.ts'

/** A JSON object, judged when it loses the focus, as a half-typed text is always wrong. */
export function JsonField(props: {
  label: string
  hint: string
  example: string
  value: string
  fault: ChannelFault | undefined
  onChange: (value: string) => void
}): ReactElement {
  const { value, onChange } = props
  const { t } = useTranslation()
  const [own, setOwn] = useState(() => objectFault(value))
  const fault = props.fault ?? own
  return (
    <FormField
      label={props.label}
      hint={props.hint}
      error={fault ? t(`channelForm.fault.${fault}`) : undefined}
    >
      {(control) => (
        <TextArea
          {...control}
          isMono
          rows={3}
          spellCheck={false}
          placeholder={props.example}
          value={value}
          onChange={(text) => {
            onChange(text)
            if (own !== null) setOwn(objectFault(text))
          }}
          onBlur={() => setOwn(objectFault(value))}
        />
      )}
    </FormField>
  )
}
