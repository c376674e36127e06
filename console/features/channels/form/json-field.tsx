import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextArea } from '#console/ui/inputs.tsx'
import type { ChannelFault } from './channel-faults.ts'
import { type JsonFault, membersBut } from './json-faults.ts'

/**
 * A JSON object, judged when it loses the focus, as a half-typed text is always wrong. Members
 * other than those that are known are named, and may be saved: they do nothing.
 */
export function JsonField(props: {
  label: string
  hint: string
  example: string
  value: string
  fault: ChannelFault | undefined
  judge: (text: string) => JsonFault | null
  known?: readonly string[]
  /** What the server has against it. */
  refused?: string | undefined
  onChange: (value: string) => void
}): ReactElement {
  const { value, judge, onChange } = props
  const { t } = useTranslation()
  const [own, setOwn] = useState(() => judge(value))
  const fault = props.fault ?? own
  const unknown = props.known === undefined ? [] : membersBut(props.known, value)
  const names = unknown.join(', ')
  return (
    <FormField
      label={props.label}
      hint={
        <>
          {props.hint}
          {names !== '' && (
            <span className="tg-caution">{t('channelForm.unknownSettings', { names })}</span>
          )}
        </>
      }
      error={fault ? t(`channelForm.fault.${fault}`) : props.refused}
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
            if (own !== null) setOwn(judge(text))
          }}
          onBlur={() => setOwn(judge(value))}
        />
      )}
    </FormField>
  )
}
