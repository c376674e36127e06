import { useTranslation } from 'react-i18next'
import { changeLanguage, currentLanguage, LANGUAGES, type Language } from '#console/i18n/i18n.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { showError } from '#console/ui/messages/toast.ts'

export const LANGUAGE_NAMES: Record<Language, string> = { zh: '中文', en: 'English' }

export function LanguageMenu() {
  const { t } = useTranslation()
  const items = LANGUAGES.map((language) => ({
    text: <span lang={language}>{LANGUAGE_NAMES[language]}</span>,
    isSelected: language === currentLanguage(),
    onSelect: () => void changeLanguage(language).catch(showError),
  }))
  return (
    <MenuButton items={items}>
      <Button tone="quiet" icon="language" label={t('shell.language')} />
    </MenuButton>
  )
}
