/** A text in both languages of the console. */
export type Words = { readonly zh: string; readonly en: string }
