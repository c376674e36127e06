import { TextAreaField } from '#console/ui/forms/fields.tsx'
import { isJson, readableJson } from './json-map.ts'
import { useSettingHint } from './setting-hint.tsx'
import { useOptionTexts } from './use-option-texts.ts'
import type { SettingsForm } from './use-settings-form.ts'

const ROWS_MAX = 14
const ROWS_MIN = 4

/** Edits an option as JSON. When the field loses the focus, the JSON is checked and formatted. */
export function JsonOptionField(props: { option: string; form: SettingsForm }) {
  const { option: key, form } = props
  const texts = useOptionTexts()
  const hint = useSettingHint(form)
  const option = form.option(key)
  if (option === undefined) return null
  const text = form.value(key)
  const rows = Math.min(ROWS_MAX, Math.max(ROWS_MIN, text.split('\n').length))
  return (
    <TextAreaField
      label={texts.label(key)}
      hint={hint(option)}
      error={form.errorText(key)}
      isMono
      rows={rows}
      disabled={!form.mayChange(key)}
      value={text}
      onChange={(next) => form.set(new Map([[key, next]]))}
      onBlur={() => {
        form.touch(key)
        if (form.isChanged(key) && isJson(text)) {
          form.set(new Map([[key, readableJson(text)]]))
        }
      }}
    />
  )
}
