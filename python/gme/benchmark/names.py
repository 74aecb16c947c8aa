"""Pools of given and family names from many places, and the parts of invented names of organizations."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words("""
Aaliyah Aarav Abel Abena Abigail Ada Adaeze Aditi Adrian Agnes Ahmed Aiko Aileen Aisha Akari Akira Alba Alejandro
Aleksander Alessia Alexei Alicia Alina Alma Alvaro Amadou Amalia Amara Amelie Amina Amir Amrita Ananya Anders Andrea
Andrei Angela Anika Anita Anjali Anouk Anselm Antoine Anton Anya Aoife April Archie Ariadne Arjun Arlo Arthur Arturo
Asha Astrid Asuka Audrey August Aurelia Austin Ava Axel Ayaan Ayesha Ayumi Azadeh Aziz Babak Bao Barbara Bastian
Beatriz Benedikt Benjamin Bianca Binh Björn Bogdan Boris Brandon Brigid Bruno Caleb Camila Carla Carlos Carmen
Caroline Catarina Cecilia Cedric Celeste Celine Chandra Charlotte Chen Chiara Chidi Chinwe Chloe Christos Ciara Clara
Claudio Cleo Colette Conrad Constance Cora Cormac Craig Cristina Cyrus Dagmar Daisuke Dalia Damian Daniela Daphne
Darius Darya Davide Deborah Declan Deepak Delia Delphine Denise Desmond Devika Diana Diego Dilara Dimitri Dinesh
Dolores Dominik Donovan Dora Duc Dylan Edith Edmund Eduardo Efua Eileen Einar Elena Eleni Elias Elif Elin Ellen Elodie
Elsa Emeka Emil Emilia Emre Enrique Enzo Erik Esme Esperanza Esra Esteban Esther Eugene Eva Evelyn Ewan Fabian Farah
Farid Fatima Felicity Felix Femi Ferdinand Fergus Filip Finn Fiona Flavia Fleur Flora Florian Frances Francisco Freya
Frida Gabriel Gael Gareth Gemma Genevieve Georgios Gerda Gideon Giulia Gloria Goran Grace Greta Griffin Guillermo
Gunnar Gustav Gwen Hadiza Hakan Hamza Hana Hannes Haruka Harvey Hassan Heidi Helena Henrik Hideo Hilda Hiro Holly Hong
Hugo Ibrahim Ida Ifeoma Imani Imogen Imran Indira Ines Ingrid Ioana Irina Iris Isaac Isabel Ishaan Ismael Itzel Ivana
Ivo Jakub Jamal Jasmine Javier Jelena Jens Jerome Jia Johanna Jonas Jordi Josefina Joshua Joyce Juan Judith Julian
Juliette Jun Junko Jürgen Kaito Kamal Kamila Karim Karin Karl Kasper Katarina Kavya Keiko Keira Kenji Khadija Kiran
Kirsten Klara Klaus Kofi Konrad Kristof Kwame Laila Lakshmi Lars Laszlo Laura Leandro Leila Lena Leonie Leopold
Leticia Lian Liam Lidia Lily Linh Linnea Lionel Lior Livia Lorenzo Lourdes Luca Ludmila Luis Luisa Lukas Luna Lydia
Mabel Madeleine Magnus Mahesh Maia Malik Manuela Marcel Marek Margot Mariana Marisol Marlon Marta Mateo Mathilde
Matteo Maura Maximilian Mehmet Mei Melissa Mercy Meredith Mia Michiko Miguel Mila Milan Mina Ming Miriam Mirko Mona
Monique Moses Muriel Nadia Nadine Naoki Naomi Narges Natalia Nathan Naveen Neha Nelson Nia Nico Nicole Nikhil Niklas
Nils Nina Niamh Noel Noor Nora Norbert Nuala Nuno Obinna Octavia Olga Olive Oliver Olumide Omar Orla Oscar Otis Owen
Pablo Paloma Pascal Patience Patricia Paula Pavel Pedro Penelope Petra Philippa Phoebe Pia Pierre Piotr Pooja Priya
Quentin Rachel Rafael Rahul Ramon Raquel Ravi Rebecca Reem Renata Rhea Ricardo Rina Robin Rocio Rohan Roisin Roland
Romy Rosa Rowan Ruben Rufus Ruth Ryo Sabine Sadia Salma Samir Samuel Sandra Sanjay Santiago Saoirse Sara Sasha Saskia
Sebastian Selma Serena Sergio Shanti Shira Shreya Sienna Sigrid Silas Silvia Simone Sofia Solveig Sonia Soraya Søren
Stefan Stella Sunil Suresh Svetlana Sylvain Taiwo Takeshi Tamar Tamsin Tanvi Tariq Tatiana Teresa Thandiwe Theo Thomas
Tilda Tobias Tomas Tuan Uma Ursula Valentina Vanessa Vera Veronika Victor Vidya Vikram Vincent Viola Vivian Vladimir
Wanda Wei Wendell Willa Winifred Xavier Ximena Yael Yara Yasmin Yolanda Yuki Yusuf Zainab Zara Zelda Zoë Zofia Zuri
""")

LAST_NAMES = _words("""
Abara Abbott Abdi Abernathy Achebe Acosta Adeyemi Aguilar Ahlgren Akhtar Alarcón Albrecht Aldana Almeida Alvarado
Amsel Andersen Antonov Aoki Appiah Aquino Arafat Araya Armitage Arslan Asante Ashworth Aslan Atkins Avila Aydin
Azikiwe Bachmann Baer Baker Bakshi Balogun Banerjee Baptiste Barlow Barrera Barros Basu Bauer Beaumont Becker Bello
Benitez Bennett Berg Bernard Bhatt Bianchi Bielski Björk Blackwood Blanchard Boateng Bondarenko Borges Boucher Bowen
Bradshaw Brandt Brennan Brook Bui Burke Byrne Cabrera Calder Callahan Camara Campos Cano Carlsson Carrasco Carvalho
Castellanos Castillo Cavendish Cerny Chakraborty Chandler Chavez Cheng Cho Chopra Choudhury Christensen Chukwu Cisse
Clayton Coelho Cohen Collins Conti Cordero Correia Costa Crane Crespo Cruz Csaba Cunningham Dahl Dalton Danjuma
Darwish Das Dawson Decker Delacroix Delgado Demir Desai Diallo Diaz Dietrich Dimitrov Diop Dlamini Doherty Dominguez
Donnelly Dragan Dubois Dumont Duran Dvorak Easton Eberhardt Edwards Egger Ekholm Eklund Eldridge Elmasry Engel Erdem
Eriksen Eriksson Escobar Espinoza Eze Faber Fairchild Falk Farouk Faulkner Ferrari Ferreira Fielding Fischer
Fitzgerald Fleming Fofana Fontaine Forsberg Fournier Fraser Friedman Fuentes Fujimoto Gallagher Gallo Ganguly Garcia
Gauthier Gebre Georgiou Ghosh Gibbs Gill Giordano Goldberg Gomez Gonzaga Gorman Graf Granger Greco Greenwood Grimaldi
Gruber Guerrero Gupta Gustafsson Gutierrez Haas Haddad Hagen Hakimi Halloran Hamada Hansen Harada Hardy Hartmann
Hashemi Hayashi Hedlund Heller Henning Herrera Hidalgo Hill Hoang Hoffmann Hollis Holloway Holm Horvat Hosseini Hsu
Huang Hussain Ibarra Ikeda Ilves Inoue Iqbal Irving Isaksson Ishikawa Ivanov Iyer Jablonski Jackson Jain Jansen
Jaramillo Jensen Jimenez Johansson Joshi Jovanovic Juarez Kaczmarek Kahn Kaiser Kamara Kang Kaplan Kapoor Karlsson
Katz Kaya Keita Keller Kendrick Khalil Khumalo Kim Kimura Kinsella Kirby Klein Kobayashi Koch Kovacs Kowalski Kozlov
Kraus Kristiansen Krüger Kumar Kuznetsov Kwon Lachance Lambert Lang Larkin Larsen Laurent Lavoie Leclerc Lehmann
Lemaire Leung Levy Lindgren Lindqvist Lombardi Lopez Lund Lynch Macdonald Machado Madsen Mahlangu Maldonado Malhotra
Mancini Mansour Marchetti Marin Maris Markovic Marquez Martel Mascarenhas Matsuda Mazur Mbeki McAllister McBride
McKenna Medina Mehta Meier Melnyk Mendes Mensah Mercier Meyer Mikkelsen Miranda Mishra Mitchell Moen Mohammed Molina
Montague Moreau Moreno Mori Morozov Mostafa Moyo Murphy Musa Mwangi Müller Nagy Nair Nakagawa Nakamura Nasser Navarro
Ndiaye Neumann Ngata Nguyen Nielsen Nilsson Nkosi Nolan Novak Nowak Nwosu Nyberg Núñez Obando Ochoa Odhiambo Okafor
Okamoto Okoye Oliveira Olsen Onyango Orellana Orlov Ortega Osei Osman Otieno Owusu Ozturk Pacheco Palmer Papadakis
Pappas Park Parsons Patel Pavlov Pearce Pellegrini Pereira Petrov Pham Pillai Pinto Popescu Poulsen Prescott Quintana
Qureshi Rafferty Rahman Ramirez Rao Rasmussen Reid Reyes Ricci Richter Rinaldi Rivera Romano Rosen Rossi Roux Russo
Sadeghi Saito Salazar Salonen Sanders Sandoval Santos Sato Schmidt Schneider Schubert Sethi Shapiro Sharma Shevchenko
Silva Sinclair Singh Soto Souza Steiner Sullivan Sundaram Suzuki Svensson Szabo Takahashi Tanaka Tembo Thapa Thorne
Toivonen Torres Tran Turner Ueda Ulrich Valdez Vance Varga Vasquez Verma Vogel Volkov Wagner Walsh Weber Whitaker Wong
Yamamoto Yilmaz Zhang
""")

# Halves of one-word company names ("Alderbridge", "Silvercrest"). Every pair is a possible company.
COMPANY_STARTS = _words("""
Alder Amber Arden Ash Aspen Birch Blue Bright Bronze Cedar Clear Cobalt Copper Coral Crown Dawn Deep Dune Eagle Ember
Ever Fair Falcon Fern Flint Fox Frost Glass Gold Granite Green Grey Harbor Hawk Hazel Heather High Iron Ivory Jade
Juniper Keystone Lark Laurel Linden Lumen Maple Marble Meadow Mill Moon Night North Oak Onyx Opal Orchard Osprey Pearl
Pine Quartz Quill Raven Red Ridge River Robin Rose Rowan Sable Sage Salt Silver Sky Slate Spring Star Stone Storm
Summer Swift Tall Thistle Timber True Velvet Violet West White Wild Willow Winter Wren Yew Zephyr
""")
COMPANY_ENDS = _words("""
beacon bloom bourne bridge brook cliff coast court crest dale fall field forge gate glen grove haven helm hollow keep
land line loft lock mark mere mont path peak point port reach root shore side spire stead stream vale wharf
""")

# Invented places that give universities their names, and halves of more such places ("Dunmere", "Calverwick").
PLACES = _words("""
Abbotsmere Abergarth Ackleton Adrano Aglund Albarosa Aldmere Almenara Amberholt Anselmo Antrova Arcadene Ardenmoor
Argolis Arkendale Arrowell Ashbarrow Astermouth Auberville Avenmore Azuria Ballindor Balsamo Banffield Barrowmoor
Basilport Beckonsea Belcastro Bellerive Bellhaven Bergamar Blackmere Blythcombe Bolvarra Bonaterra Brackwater
Bramblewick Brightsea Brindlemoor Brokenhill Brunswold Burrendale Cadenza Calderbrook Capranova Carmindale Carrowkeel
Castlemoor Cavendale Cedarholm Chanterelle Chesterwold Cindermouth Cloverley Corbenic Corvanna Coryville Cragmoor
Crestholme Crowmarsh Cumberholt Dagenfeld Dalvania Darkwater Dewhurst Dolmenia Dorvalle Dovercliff Dragomir Drumcastle
Dunharrow Dunmarrow Eaglescliffe Eastmarch Ebonford Eglantine Ekenburg Elkstone Emberley Endelstow Eskadale Estrella
Faldonside Falkenrath Farallon Firthside Fjellvik Fontanelle Frithwold Frostholm Galadron Gallowmere Gannetry Garmouth
Glenfarrow Gloamingdale Gorsefield Granadel Gravenholt Greyfriars Grindelmoor Gullhaven Gullmarsk Halcyon Hallowtide
Hawksworth Hawthornden Heathermoor Hobbleton Hollowbrook Honeychurch Huntersmoon Icknield Idlewild Inchmarlo Inverlark
Isenburgh Islandia Ivelchester Jarrowby Jessamine Jorvale Jorvikshire Jutehaven Kaldera Karlsmark Kelmaree Kelpshore
Kestrelham Kettlebridge Kingsmarsh Knaresby Kvistrup Lammergate Lanternhead Laurentia Lindhaven Longmarsh Lowick
Lowmoorland Lunaria Madrugada Magnolia Malvernia Marchbanks Marigold Marrowbone Merrivale Mirabella Moonstone
Moravelle Mossgiel Myrtlewood Narrowsea Nevarre Nightingale Nordheim Norrowby Nutwell Oakhampton Oldcastle Olivares
Orchardleigh Orkhaven Ostermark Oxmoor Palisade Pampalona Peatling Pellinore Pemberwick Penhallow Peregrine Pinnacle
Pomeroy Portolano Primrose Quantock Quarrington Quillmarsh Quivira Ravenglass Rheinfels Ringmarsh Riverbend Rosamund
Rosewater Rothendale Rushmere Saffronwold Saltmarsh Sanderling Saxonbury Seabright Serrano Skelderby Skerryvore
Snowfield Solitude Southmarch Spindrift Starling Summerisle Sunderby Swanholme Sycamore Tamarisk Tanglewood Tarragone
Tavistrand Thistledown Tidewater Tidmarsh Torremar Trelawney Tulsemere Ullerwood Ulverscroft Umberleigh Umbravale
Valdemar Valparina Vantreville Varnhem Verdance Vermilion Vesperine Viridian Vulcania Wanderhill Westmarch Wexmoor
Whitethorn Wickerby Wildmoor Windermoor Wyvern Xanthia Yarrowdale Yellowcliff Zennorby Zorinda
""")
PLACE_STARTS = _words("""
Aber Alten Arling Bal Barrow Bel Brack Bran Calver Carra Castel Clon Corvan Cran Dal Darrow Dorn Dun Eastle Elms Esk
Fal Fenn Garrow Glas Grims Hal Hart Holm Inver Kel Kelder Kirk Lan Lough Mar Mel Mor Nor Orm Pels Pen Quar Rath Roth
Sal Sand Shel Stav Strath Tarn Thorn Tor Val Ven Wal Welling Whit Wolver Yar
""")
PLACE_ENDS = _words("""
mere ford wick haven ton burgh mouth stad holm dale minster borough ham leigh worth by more gard veld brae
""")
UNIVERSITY_FORMS = (
    "University of {place}",
    "{place} University",
    "{place} State University",
    "{place} Institute of Technology",
    "{place} College",
    "{place} Polytechnic",
    "Technical University of {place}",
    "{place} Academy of Sciences",
)

# Places of branches and campuses, for a split that needs more organizations than it has plain names.
BRANCH_PLACES = _words("""
Accra Adelaide Antwerp Athens Austin Bergen Bilbao Bogotá Boston Brisbane Cairo Calgary Cardiff Casablanca Cork Dakar
Denver Dublin Geneva Genoa Ghent Hamburg Hanoi Helsinki Istanbul Jakarta Kyoto Lagos Leeds Leipzig Lima Lisbon Lyon
Madrid Manila Melbourne Montreal Mumbai Nairobi Osaka Oslo Porto Prague Quito Riga Santiago Seville Toronto
""")
