import type { ReactElement } from 'react'
import { FallbackForm } from './fallback-form.tsx'
import { GroupPanel } from './group-panel.tsx'
import { JsonOption } from './json-option.tsx'
import { PricePanel } from './price-panel.tsx'
import { TestMail } from './test-mail.tsx'
import { UpdateCheck } from './update-check.tsx'
import type { SettingsForm } from './use-settings-form.ts'

type Form = (props: { form: SettingsForm }) => ReactElement | null

/** Sections that are more than a list of fields, by their id. */
export const OWN_FORMS: Readonly<Record<string, Form>> = {
  prices: PricePanel,
  fallback: FallbackForm,
  groups: GroupPanel,
  ratios: ({ form }) => <JsonGrid section="ratios" form={form} />,
}

/** What stands below a section's fields. */
export const EXTRAS: Readonly<Record<string, Form>> = {
  update: UpdateCheck,
  smtp: TestMail,
}

function JsonGrid({ section, form }: { section: string; form: SettingsForm }): ReactElement {
  return (
    <div className="tg-json-grid">
      {form.optionsOf(section).map(({ key }) => (
        <JsonOption key={key} option={key} form={form} />
      ))}
    </div>
  )
}
