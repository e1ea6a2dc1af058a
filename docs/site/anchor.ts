// Anchors of headings in Markdown, as GitHub makes them: the same links work there and on the site.

/** Of the text of a heading, with or without its marks. A repeated one gets a number from the caller. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
