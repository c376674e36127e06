import { useTranslation } from 'react-i18next'
import { changeLanguage, currentLanguage, LANGUAGES, type Language } from '#console/i18n/i18n.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { showError } from '#console/ui/messages/toast.ts'

const LANGUAGE_NAMES: Record<Language, string> = { zh: '中文', en: 'English' }

export const languageActions = () =>
  LANGUAGES.map((language) => ({
    id: `language-${language}`,
    title: LANGUAGE_NAMES[language],
    lang: language,
    isSelected: language === currentLanguage(),
    perform: () => void changeLanguage(language).catch(showError),
  }))

export function LanguageMenu() {
  const { t } = useTranslation()
  return (
    <MenuButton items={languageActions()}>
      <Button tone="quiet" icon="language" label={t('shell.language')} />
    </MenuButton>
  )
}
