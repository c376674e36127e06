import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextArea } from '#console/ui/inputs.tsx'
import { isJson, readJsonMap, writeJsonMap } from './json-map.ts'
import { settingFault } from './setting-faults.ts'
import { JSON_OPTIONS, type JsonOption as Key } from './setting-fields.ts'
import { useFaultText } from './use-fault-text.ts'
import type { SettingsForm } from './use-settings-form.ts'

const ROWS_MAX = 14

/** An option's JSON as text: reformatted for display, judged when it loses the focus. */
export function JsonOption(props: { option: Key; form: SettingsForm }): ReactElement {
  const { option, form } = props
  const { t } = useTranslation()
  const faultText = useFaultText()
  const [isTouched, setTouched] = useState(() => form.isChanged(option))
  const text = form.isChanged(option) ? form.value(option) : readable(option, form.value(option))
  const fault = isTouched || form.isChecked ? settingFault(option, text) : null
  const rows = Math.min(ROWS_MAX, Math.max(4, text.split('\n').length))
  return (
    <FormField
      label={t(`settings.json.${option}`)}
      hint={t(`settings.jsonHint.${option}`)}
      error={faultText(fault)}
    >
      {(control) => (
        <TextArea
          {...control}
          isMono
          rows={rows}
          spellCheck={false}
          value={text}
          onChange={(next) => form.set(new Map([[option, next]]))}
          onBlur={() => {
            setTouched(true)
            if (form.isChanged(option) && isJson(text)) {
              form.set(new Map([[option, readable(option, text)]]))
            }
          }}
        />
      )}
    </FormField>
  )
}

function readable(option: Key, text: string): string {
  const entries = readJsonMap(text, JSON_OPTIONS[option])
  return entries === null ? text : writeJsonMap(entries)
}
