// Metadata documents with every element that is read, and broken ones; names and numbers are invented.

export const completeComicInfo = Buffer.from(`<?xml version="1.0" encoding="utf-8"?>
<ComicInfo xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <Title>The Long Way Down</Title>
  <Series>Lighthouse</Series>
  <Number>1</Number>
  <Count>600</Count>
  <Volume>3</Volume>
  <Summary>A keeper climbs down.</Summary>
  <Notes>Written by hand.</Notes>
  <Year>2018</Year><Month>3</Month><Day>15</Day>
  <Writer>Ana Author, Bo Bard</Writer>
  <Penciller>Cy Pencil</Penciller>
  <Inker>Di Ink</Inker>
  <Colorist>Ed Color</Colorist>
  <Letterer>Flo Letter</Letterer>
  <CoverArtist>Gus Cover</CoverArtist>
  <Editor>Hal Edit</Editor>
  <Translator>Ida Word</Translator>
  <Publisher>Harbour Press</Publisher>
  <Imprint>Pier</Imprint>
  <Genre>Sea, Mystery, Adventure</Genre>
  <Tags>storm, island</Tags>
  <Web>https://example.org/issue/12345 https://example.com/lighthouse-1/</Web>
  <PageCount>3</PageCount>
  <LanguageISO>en-US</LanguageISO>
  <Format>Single Issue</Format>
  <BlackAndWhite>No</BlackAndWhite>
  <Manga>No</Manga>
  <Characters>The Keeper</Characters>
  <Teams>Coast Guard</Teams>
  <Locations>Rock Island</Locations>
  <StoryArc>High Tide, Low Tide, Calm</StoryArc>
  <StoryArcNumber>1, 5, 2</StoryArcNumber>
  <AgeRating>Teen</AgeRating>
  <CommunityRating>4.25</CommunityRating>
  <Pages>
    <Page Image="0" Type="FrontCover"/>
    <Page Image="1" Type="Story" DoublePage="true"/>
    <Page Image="2" Type="Story" Bookmark="Chapter 1"/>
  </Pages>
</ComicInfo>`)

/** Unclosed elements, and values of the wrong kind. */
export const brokenComicInfo = Buffer.from(`<?xml version="1.0" encoding="utf-8"?>
<ComicInfo>
  <Title>Torn Pages</Title>
  <Series>Lighthouse
  <Number>1</Number>
  <Count>many</Count>
  <CommunityRating>10.5</CommunityRating>
  <BlackAndWhite>Maybe</BlackAndWhite>
  <Manga>Perhaps</Manga>
  <AgeRating>Unknown age</AgeRating>
  <Pages>
    <Page Image="0" Type="Poster" DoublePage="maybe" ImageSize="big"/>
    <Page Image="first" Type="Story"/>
  </Pages>
  <Year>2025</Year>
  <Month>13</Month>
  <Day>32</Day>
</ComicInfo`)

export const completeMetronInfo = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>
<MetronInfo xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <IDS>
    <ID source="Metron" primary="true">290431</ID>
    <ID source="Comic Vine">12345</ID>
    <ID source="Grand Comics Database">543</ID>
    <ID source="MangaDex">01234567-89ab-4cde-8f01-23456789abcd</ID>
  </IDS>
  <Publisher id="7"><Name>Harbour Press</Name><Imprint id="8">Pier</Imprint></Publisher>
  <Series id="9" lang="en">
    <Name>The Lighthouse</Name>
    <SortName>Lighthouse</SortName>
    <Volume>2</Volume>
    <Format>Single Issue</Format>
    <StartYear>1990</StartYear>
    <IssueCount>60</IssueCount>
    <AlternativeNames>
      <AlternativeName id="1">Beacon</AlternativeName>
      <AlternativeName lang="de">Der Leuchtturm</AlternativeName>
    </AlternativeNames>
  </Series>
  <Number>1</Number>
  <Stories><Story id="2">High Tide</Story><Story>Low Tide</Story></Stories>
  <Summary>A keeper climbs down.</Summary>
  <CoverDate>2011-10-01</CoverDate>
  <StoreDate>2011-08-31</StoreDate>
  <PageCount>32</PageCount>
  <Genres><Genre id="3">Sea</Genre><Genre>Crime</Genre></Genres>
  <Tags><Tag id="4">storm</Tag><Tag>island</Tag></Tags>
  <Arcs><Arc id="5"><Name>Origin</Name><Number>1</Number></Arc><Arc><Name>Tides!</Name></Arc></Arcs>
  <Characters><Character id="6">The Keeper</Character><Character>Gull</Character></Characters>
  <Teams><Team>Coast Guard</Team></Teams>
  <Locations><Location>Rock Island</Location></Locations>
  <GTIN><ISBN>1234567890123</ISBN><UPC>01234567890100111</UPC></GTIN>
  <AgeRating>Everyone</AgeRating>
  <URLs><URL primary="true">https://example.org/1</URL><URL>https://example.com</URL></URLs>
  <Credits>
    <Credit><Creator id="10">Ana Author</Creator><Roles><Role>Writer</Role></Roles></Credit>
    <Credit><Creator>Cy Pencil</Creator><Roles><Role>Penciller</Role><Role>Cover</Role></Roles></Credit>
    <Credit><Creator>Hal Edit</Creator><Roles><Role>Editor</Role></Roles></Credit>
    <Credit><Creator>Jo Boss</Creator><Roles><Role>Chief Creative Officer</Role></Roles></Credit>
  </Credits>
</MetronInfo>`)

/** An OPF package in which every element has a prefix. */
export const prefixedPackage =
  Buffer.from(`<my:package xmlns:my="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="uid">
  <my:metadata xmlns:mydc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
    <mydc:title id="id">Sturm am Kap</mydc:title>
    <mydc:creator id="id-1">Ulla Blau</mydc:creator>
    <mydc:creator id="id-3">The Editor</mydc:creator>
    <mydc:identifier>isbn:9780306406157</mydc:identifier>
    <mydc:identifier id="uid">uuid:01234567-89ab-4cde-8f01-23456789abcd</mydc:identifier>
    <mydc:language>de</mydc:language>
    <mydc:date>1999-07-31T16:00:00+00:00</mydc:date>
    <mydc:description>&lt;div&gt;
        &lt;p&gt;Der erste Band am Kap...&lt;/p&gt;&lt;/div&gt;</mydc:description>
    <mydc:publisher>Hafen</mydc:publisher>
    <mydc:subject>Kinder- und Jugendbücher</mydc:subject>
    <my:meta refines="#id" property="title-type">main</my:meta>
    <my:meta name="cover" content="cover"/>
    <my:meta refines="#id-1" property="role" scheme="marc:relators">aut</my:meta>
    <my:meta refines="#id-1" property="file-as">Blau, Ulla</my:meta>
    <my:meta refines="#id-3" property="role" scheme="marc:relators">edt</my:meta>
    <my:meta refines="#id-3" property="file-as">Editor, The</my:meta>
    <my:meta property="calibre:rating">6</my:meta>
    <my:meta property="belongs-to-collection" id="id-2">Die Leuchtturmkinder</my:meta>
    <my:meta refines="#id-2" property="collection-type">series</my:meta>
    <my:meta refines="#id-2" property="group-position">1.5</my:meta>
  </my:metadata>
  <my:manifest>
    <my:item id="cover" href="cover.jpg" media-type="image/jpeg"/>
    <my:item id="one" href="one.xhtml" media-type="application/xhtml+xml"/>
    <my:item id="two" href="two.xhtml" media-type="application/xhtml+xml"/>
  </my:manifest>
  <my:spine page-progression-direction="rtl">
    <my:itemref idref="one"/><my:itemref idref="two"/>
  </my:spine>
</my:package>`)

/** An OPF sidecar file as Calibre writes it. */
export const calibreSidecar = Buffer.from(`<?xml version='1.0' encoding='utf-8'?>
<package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="uuid_id">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">
    <dc:title>Sturm am Kap, Band 3</dc:title>
    <dc:creator opf:file-as="Blau, Ulla" opf:role="aut">Ulla Blau</dc:creator>
    <dc:identifier opf:scheme="ISBN">9780306406157</dc:identifier>
    <meta name="calibre:series" content="Die Leuchtturmkinder"/>
    <meta name="calibre:series_index" content="3.0"/>
    <meta name="calibre:rating" content="8"/>
  </metadata>
</package>`)
