/** Continents as regions, and parts of them as guilds: which nations of the results file belong to which. A table of our own. */
const PARTS = {
  Africa: {
    'Northern Africa': 'Algeria|Egypt|Libya|Morocco|Sudan|Tunisia',
    'Western Africa':
      'Benin|Burkina Faso|Cape Verde|Gambia|Ghana|Guinea|Guinea-Bissau|Ivory Coast|Liberia|Mali|Mauritania|Niger|Nigeria|Senegal|Sierra Leone|Togo',
    'Middle Africa':
      'Angola|Cameroon|Central African Republic|Chad|Congo|DR Congo|Equatorial Guinea|Gabon|São Tomé and Príncipe',
    'Eastern Africa':
      'Burundi|Comoros|Djibouti|Eritrea|Ethiopia|Kenya|Madagascar|Malawi|Mauritius|Mozambique|Réunion|Rwanda|Seychelles|Somalia|Tanzania|Uganda|Zambia|Zanzibar|Zimbabwe',
    'Southern Africa': 'Botswana|Eswatini|Lesotho|Namibia|South Africa',
  },
  Americas: {
    Caribbean:
      'Anguilla|Antigua and Barbuda|Aruba|Bahamas|Barbados|British Virgin Islands|Cayman Islands|Cuba|Curaçao|Dominica|Dominican Republic|Grenada|Guadeloupe|Haiti|Jamaica|Martinique|Montserrat|Puerto Rico|Saint Kitts and Nevis|Saint Lucia|Saint Martin|Saint Vincent and the Grenadines|Sint Maarten|Trinidad and Tobago|Turks and Caicos Islands|United States Virgin Islands',
    'Central America': 'Belize|Costa Rica|El Salvador|Guatemala|Honduras|Mexico|Nicaragua|Panama',
    'North America': 'Bermuda|Canada|Greenland|United States',
    'South America':
      'Argentina|Bolivia|Brazil|Chile|Colombia|Ecuador|French Guiana|Guyana|Paraguay|Peru|Suriname|Uruguay|Venezuela',
  },
  Asia: {
    'Central Asia': 'Kazakhstan|Kyrgyzstan|Tajikistan|Turkmenistan|Uzbekistan',
    'Eastern Asia': 'China|Hong Kong|Japan|Macau|Manchukuo|Mongolia|North Korea|South Korea|Taiwan',
    'South-Eastern Asia':
      'Brunei|Cambodia|Indonesia|Laos|Malaysia|Myanmar|North Vietnam|Philippines|Singapore|Thailand|Vietnam|Vietnam Republic',
    'Southern Asia': 'Afghanistan|Bangladesh|Bhutan|India|Iran|Maldives|Nepal|Pakistan|Sri Lanka',
    'Western Asia':
      'Armenia|Azerbaijan|Bahrain|Cyprus|Georgia|Iraq|Israel|Jordan|Kuwait|Lebanon|Northern Cyprus|Oman|Palestine|Qatar|Saudi Arabia|South Yemen|Syria|Turkey|United Arab Emirates|Yemen|Yemen DPR',
  },
  Europe: {
    'British Isles':
      'Alderney|England|Guernsey|Isle of Man|Isle of Wight|Jersey|Kernow|Northern Ireland|Republic of Ireland|Scotland|Shetland|Wales|Ynys Môn',
    'Northern Europe':
      'Denmark|Estonia|Faroe Islands|Finland|Frøya|Gotland|Hitra|Iceland|Latvia|Lithuania|Norway|Saare County|Sweden|Åland Islands',
    'Western Europe':
      'Austria|Belgium|Brittany|Corsica|France|Germany|Liechtenstein|Luxembourg|Netherlands|Provence|Saarland|Switzerland',
    'Eastern Europe':
      'Belarus|Bulgaria|Czech Republic|Czechoslovakia|German DR|Hungary|Moldova|Poland|Romania|Russia|Silesia|Slovakia|Ukraine',
    'Southern Europe':
      'Albania|Andalusia|Andorra|Asturias|Basque Country|Bosnia and Herzegovina|Canary Islands|Catalonia|Central Spain|Croatia|Galicia|Gibraltar|Greece|Italy|Malta|Montenegro|North Macedonia|Portugal|Rhodes|San Marino|Serbia|Slovenia|Spain|Yugoslavia',
  },
  Oceania: {
    'Australia and New Zealand': 'Australia|New Zealand|Western Australia',
    Melanesia: 'Fiji|New Caledonia|Papua New Guinea|Solomon Islands|Vanuatu',
    Micronesia: 'Guam|Kiribati|Micronesia|Northern Mariana Islands|Palau',
    Polynesia: 'American Samoa|Cook Islands|Niue|Samoa|Tahiti|Tonga|Tuvalu|Wallis Islands and Futuna',
  },
};

/** By the name of a nation: `{ continent, part }`. */
export const nations = new Map(
  Object.entries(PARTS).flatMap(([continent, parts]) =>
    Object.entries(parts).flatMap(([part, names]) => names.split('|').map((name) => [name, { continent, part }])),
  ),
);

/** The guilds of the demo: parts of continents. */
export const parts = Object.values(PARTS).flatMap((ofContinent) => Object.keys(ofContinent));

/** An id such as `south-eastern-asia`. */
export const guildIdOf = (part) => part.toLowerCase().replaceAll(' ', '-');
